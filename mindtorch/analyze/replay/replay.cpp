// One pass over the nodes: each begins when what it waits for has ended.
#include "mindtorch/analyze/replay/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "mindtorch/analyze/units.h"

namespace mindtorch::analyze {
namespace {

using Node = StepGraph::Node;

// A device that idles for longer than this share of a step for reasons that were not recorded may do so in any changed program.
constexpr double kMostUnexplained = 0.1;

std::int64_t scaled(std::int64_t ns, double factor) {
  return factor == 1.0 ? ns : static_cast<std::int64_t>(std::llround(static_cast<double>(ns) * factor));
}

class Pass {
 public:
  Pass(const StepGraph& graph, const Change& change) : graph_(graph), change_(change), end_(graph.nodes().size()) {}

  std::int64_t total() {
    std::int64_t total = 0;
    for (const StepGraph::Window& window : graph_.windows()) total += duration_of(window);
    return total;
  }

 private:
  std::int64_t duration_of(const StepGraph::Window& window) {
    beside_ = {};
    beside_classes_ = 0;
    std::int64_t host_end = 0, device_end = window.device_base_ns;
    for (std::int32_t k = window.first_node; k < window.end_node; ++k) {
      const Node& node = graph_.nodes()[static_cast<std::size_t>(k)];
      const std::int64_t end = end_of(node);
      end_[static_cast<std::size_t>(k)] = end;
      if (node.is_of_main_thread) host_end = std::max(host_end, end);
      if (node.kind == StepGraph::Kind::kDevice) device_end = std::max(device_end, end);
    }
    std::int64_t longest = std::max(host_end, device_end - window.device_base_ns);
    for (const std::int64_t beside : beside_) longest = std::max(longest, beside);
    return std::max(longest, beside_classes_);
  }

  double factor(TimeClass of) const { return of < change_.factors.size() ? change_.factors[of] : 1.0; }
  bool is_beside(TimeClass of) const { return of < change_.is_beside.size() && change_.is_beside[of]; }
  bool is_beside(std::optional<Beside> what) const { return what && change_.beside[static_cast<std::size_t>(*what)]; }

  // True if the time passes beside the steps; it is then counted there.
  bool move(TimeClass of, std::optional<Beside> what, std::int64_t ns) {
    if (is_beside(what)) {
      beside_[static_cast<std::size_t>(*what)] += ns;
      return true;
    }
    if (is_beside(of)) beside_classes_ += ns;
    return is_beside(of);
  }

  std::int64_t end_of(const Node& node) {
    std::int64_t start = node.before == StepGraph::kNoNode ? 0 : end_[static_cast<std::size_t>(node.before)] + node.gap_ns;
    std::int64_t ready = node.floor_ns;
    for (const StepGraph::Edge& edge : graph_.edges_of(node))
      ready = std::max(ready, end_[static_cast<std::size_t>(edge.node)] + edge.lag_ns);
    if (node.kind == StepGraph::Kind::kWait) {
      // A call that does not block any more only launches.
      const bool blocks = !is_beside(node.time_class) && !is_beside(node.beside);
      const double own = factor(node.time_class);
      if (own == 0) return start;
      // What is waited for decides how long a wait lasts, and not the call.
      return std::max(start + scaled(node.duration_ns, own), blocks ? ready : start);
    }
    start = std::max(start, ready);
    if (node.kind == StepGraph::Kind::kHost) return start + host_time(node);
    const std::int64_t time = scaled(node.duration_ns, factor(node.time_class));
    return move(node.time_class, node.beside, time) ? start : start + time;
  }

  std::int64_t host_time(const Node& node) {
    std::int64_t sum = 0;
    for (const StepGraph::Term& term : graph_.terms_of(node)) {
      const std::int64_t time = scaled(term.ns, factor(term.time_class));
      if (!move(term.time_class, term.beside, time)) sum += time;
    }
    return sum;
  }

  const StepGraph& graph_;
  const Change& change_;
  std::vector<std::int64_t> end_;
  std::array<std::int64_t, kBesides> beside_{};
  std::int64_t beside_classes_ = 0;
};

}  // namespace

std::int64_t replay(const StepGraph& graph, const Change& change) {
  return Pass(graph, change).total() / static_cast<std::int64_t>(graph.steps());
}

std::string replay_problem(const StepGraph& graph) {
  if (!graph.problem().empty()) return graph.problem();
  const auto text = [](std::int64_t ns) { return format_time(static_cast<double>(ns) / 1000.0); };
  const std::int64_t recorded = graph.step_ns(), replayed = replay(graph, Change{});
  if (std::abs(static_cast<double>(replayed - recorded)) > kReplayTolerance * static_cast<double>(recorded))
    return fmt::format("the replay of the recorded steps takes {}, and not the recorded {}", text(replayed), text(recorded));
  if (static_cast<double>(graph.unexplained_ns()) > kMostUnexplained * static_cast<double>(recorded))
    return fmt::format("the device waits for {} of each step ({}), and the recording does not say what for", text(graph.unexplained_ns()),
                       text(recorded));
  return {};
}

}  // namespace mindtorch::analyze
