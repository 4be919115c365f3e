// Flame: a tree of names.
#include "mindtorch/analyze/report/flame.h"

#include <algorithm>
#include <unordered_map>

#include "mindtorch/analyze/code_origin.h"
#include "mindtorch/analyze/frame_labels.h"
#include "mindtorch/analyze/stack_leaves.h"
#include "mindtorch/trace/open_spans.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

class Tree {
 public:
  Tree() : nodes_(1) {}

  // The child of a node with this name, which is made if there is none. `text` is called once per node.
  template <class Text>
  std::uint32_t child(std::uint32_t parent, std::uint32_t name, Text text) {
    const auto [at, is_new] = children_.emplace(static_cast<std::uint64_t>(parent) << 32 | name, nodes_.size());
    if (is_new) nodes_.push_back({.name = std::string(text()), .parent = parent});
    return static_cast<std::uint32_t>(at->second);
  }
  FlameNode& operator[](std::uint32_t node) { return nodes_[node]; }

  // Keeps the nodes with most weight, which is the largest of the shares of a node in any value.
  std::vector<FlameNode> finish(std::size_t most_nodes) {
    const std::vector<double> weights = weigh();
    std::vector<double> sorted = weights;
    double least = 0;
    if (sorted.size() > most_nodes) {
      std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(most_nodes), std::ranges::greater{});
      least = sorted[most_nodes];
    }
    std::vector<std::uint32_t> place(nodes_.size(), 0);
    std::vector<FlameNode> kept = {nodes_[0]};
    for (std::uint32_t node = 1; node < nodes_.size(); ++node) {
      FlameNode& next = nodes_[node];
      const std::uint32_t parent = place[next.parent];
      if (weights[node] > least || sorted.size() <= most_nodes) {
        place[node] = static_cast<std::uint32_t>(kept.size());
        next.parent = parent;
        kept.push_back(std::move(next));
        continue;
      }
      place[node] = parent;  // a child never weighs more than its parent, so nothing below is kept either
      kept[parent].self_ns += next.self_ns;
      kept[parent].self_device_ns += next.self_device_ns;
      kept[parent].allocated += next.allocated;
    }
    return kept;
  }

 private:
  std::vector<double> weigh() const {
    std::vector<FlameNode> totals = nodes_;
    for (std::size_t node = totals.size(); node-- > 1;) {
      FlameNode& parent = totals[totals[node].parent];
      parent.self_ns += totals[node].self_ns;
      parent.self_device_ns += totals[node].self_device_ns;
      parent.allocated += totals[node].allocated;
    }
    const auto share = [](std::int64_t part, std::int64_t whole) {
      return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0.0;
    };
    std::vector<double> weights;
    for (const FlameNode& node : totals) {
      weights.push_back(std::max({share(node.self_ns, totals[0].self_ns), share(node.self_device_ns, totals[0].self_device_ns),
                                  share(node.allocated, totals[0].allocated)}));
    }
    return weights;
  }

  std::vector<FlameNode> nodes_;
  std::unordered_map<std::uint64_t, std::size_t> children_;
};

class OpFlame {
 public:
  // Modules are frames around ops; with `python`, calls of Python functions are frames too.
  OpFlame(const Analysis& analysis, bool python)
      : analysis_(analysis),
        recording_(analysis.recording()),
        python_(python),
        allocated_(allocated_by_event(recording_, analysis.memory_use())) {}

  std::vector<FlameNode> finish(std::size_t most_nodes) {
    for (const trace::Track& track : recording_.tracks) {
      if (track.kind != trace::Track::Kind::kThread) continue;
      open_.clear();
      for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) add(i);
    }
    return tree_.finish(most_nodes);
  }

 private:
  struct Open {
    std::uint32_t node;
    bool is_frame;
  };

  void add(EventIndex i) {
    const EventKind kind = recording_.events.kind[i];
    const bool is_frame = kind == EventKind::kModule || (python_ && kind == EventKind::kPythonFunction);
    if (kind == EventKind::kStep || (!is_frame && !analysis_.tree().is_node(i))) return;
    open_.close_until(recording_.events.start_ns[i]);
    const std::uint32_t parent = open_.empty() ? 0 : open_.innermost().node;
    const trace::NameId name = recording_.events.name[i];
    const std::uint32_t key = is_frame ? name : analysis_.names().key(name);
    const std::uint32_t node =
        tree_.child(parent, key, [&] { return is_frame ? call_label(recording_.name(i)) : std::string(analysis_.names().text(key)); });
    ++tree_[node].calls;
    add_values(i, node, is_frame);
    open_.open(recording_.events.end_ns(i), {node, is_frame});
  }

  // The time of a frame itself is not that of any node: it is the time of the node around it, which is moved here.
  void add_values(EventIndex i, std::uint32_t node, bool is_frame) {
    const std::int64_t duration = recording_.events.duration_ns[i];
    tree_[node].self_ns += is_frame ? duration : analysis_.tree().self_ns(i);
    if (is_frame) {
      if (!open_.empty()) tree_[open_.innermost().node].self_ns -= duration;
      return;
    }
    // A node inside of a frame was subtracted from the node around the frame, but its frame contains it.
    if (!open_.empty() && open_.innermost().is_frame) {
      tree_[open_.innermost().node].self_ns -= duration;
      const auto around = open_.all();
      const auto node_around = std::find_if(around.rbegin(), around.rend(), [](const auto& span) { return !span.value.is_frame; });
      if (node_around != around.rend()) tree_[node_around->value.node].self_ns += duration;
    }
    tree_[node].self_device_ns += analysis_.launches().self_ns(i);
    if (!allocated_.empty()) tree_[node].allocated += allocated_[i];
  }

  const Analysis& analysis_;
  const trace::Recording& recording_;
  const bool python_;
  std::vector<std::int64_t> allocated_;
  Tree tree_;
  trace::OpenSpans<Open> open_;
};

}  // namespace

namespace {

// The stacks that a sampler saw, of all threads, each with the time for which it stands.
std::vector<FlameNode> sample_flame(const trace::Recording& recording, std::size_t most_nodes) {
  std::vector<bool> is_shown;
  for (const trace::Frame& frame : recording.stacks.frames)
    is_shown.push_back(code_origin(recording.names[frame.file]) != CodeOrigin::kProfiler);
  Tree tree;
  std::unordered_map<std::string, std::uint32_t> ids;  // by the label of a frame: lines of one function are told apart
  for (std::size_t k = 0; k < recording.samples.size(); ++k) {
    const auto frames = recording.stacks.frames_of(recording.samples.stack[k]);
    std::uint32_t node = 0;
    for (std::size_t depth = frames.size(); depth-- > 0;) {
      if (!is_shown[frames[depth]]) continue;
      const std::string label = frame_label(recording, recording.stacks.frames[frames[depth]]);
      const std::uint32_t id = ids.emplace(label, static_cast<std::uint32_t>(ids.size())).first->second;
      node = tree.child(node, id, [&] { return label; });
    }
    if (node == 0) continue;
    ++tree[node].calls;
    tree[node].self_ns += recording.samples.duration_ns[k];
  }
  return tree.finish(most_nodes);
}

}  // namespace

std::vector<FlameNode> op_flame(const Analysis& analysis, std::size_t most_nodes) { return OpFlame(analysis, false).finish(most_nodes); }

std::vector<FlameNode> stack_flame(const Analysis& analysis, std::size_t most_nodes) {
  const trace::Recording& recording = analysis.recording();
  if (analysis.stacks().empty()) {
    const bool has_calls = std::ranges::find(recording.events.kind, EventKind::kPythonFunction) != recording.events.kind.end();
    if (has_calls) return OpFlame(analysis, true).finish(most_nodes);
    return recording.samples.size() > 0 ? sample_flame(recording, most_nodes) : std::vector<FlameNode>();
  }
  Tree tree;
  const LeafPaths texts(analysis);
  std::unordered_map<std::string_view, std::uint32_t> ids;
  for (const StackLeaf& leaf : stack_leaves(analysis)) {
    std::uint32_t node = 0;
    for (const std::string_view text : texts.of(leaf)) {
      const std::uint32_t id = ids.emplace(text, static_cast<std::uint32_t>(ids.size())).first->second;
      node = tree.child(node, id, [&] { return std::string(text); });
    }
    FlameNode& total = tree[node];
    total.calls += leaf.calls;
    total.self_ns += leaf.self_ns;
    total.self_device_ns += leaf.self_device_ns;
    total.allocated += leaf.allocated;
  }
  return tree.finish(most_nodes);
}

}  // namespace mindtorch::analyze
