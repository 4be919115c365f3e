// Builds the tree by sorting the stacks: equal beginnings become one node.
#include "mindtorch/export/stacks/flame_tree.h"

#include <algorithm>
#include <map>
#include <utility>

#include "mindtorch/export/layout.h"
#include "mindtorch/export/row_walk.h"

namespace mindtorch::exporter {
namespace {

using analyze::CollapsedStack;
using trace::EventIndex;

// Characters that separate frames and weights, as analyze replaces them in recorded stacks.
std::string plain_frame(std::string_view name) {
  std::string text(name);
  std::ranges::replace_if(
      text, [](char c) { return c == ';' || c == '\n' || c == '\t' || c == ' ' || c == '\r'; }, '_');
  return text;
}

// Distinct call paths and the time spent at the end of each.
class Paths {
 public:
  using Id = std::uint32_t;
  static constexpr Id kRoot = 0;

  Id child(Id above, trace::NameId name) {
    const auto [at, is_new] = ids_.try_emplace({above, name}, static_cast<Id>(steps_.size()));
    if (is_new) steps_.push_back({above, name, 0});
    return at->second;
  }
  void add(Id path, std::int64_t weight_ns) { steps_[path].weight_ns += weight_ns; }

  std::vector<CollapsedStack> stacks(const analyze::EventNames& names) const {
    std::vector<CollapsedStack> all;
    for (Id path = 1; path < steps_.size(); ++path) {
      if (steps_[path].weight_ns <= 0) continue;
      CollapsedStack stack{{}, steps_[path].weight_ns};
      for (Id at = path; at != kRoot; at = steps_[at].above) stack.frames.push_back(plain_frame(names.text(steps_[at].name)));
      std::ranges::reverse(stack.frames);
      all.push_back(std::move(stack));
    }
    return all;
  }

 private:
  struct Step {
    Id above;
    trace::NameId name;
    std::int64_t weight_ns;
  };
  std::vector<Step> steps_{{kRoot, 0, 0}};
  std::map<std::pair<Id, trace::NameId>, Id> ids_;
};

// The nesting of events on threads, Python frames included. Steps count as one name.
std::vector<CollapsedStack> nesting_stacks(const analyze::Analysis& analysis, bool on_device) {
  const trace::Recording& recording = analysis.recording();
  const analyze::EventNames& names = analysis.names();
  const Layout layout = make_layout(recording);
  Paths paths;
  struct Open {
    Paths::Id path;
    std::int64_t children_ns;
  };
  std::vector<Open> open{{Paths::kRoot, 0}};
  const auto begin = [&](EventIndex i) {
    const analyze::EventNames::Key key = names.key(recording.events.name[i]);
    // What is hidden in lists is no call of its own here either.
    open.push_back({key == analyze::EventNames::kHidden ? open.back().path : paths.child(open.back().path, key), 0});
  };
  const auto end = [&](EventIndex i) {
    const Open closed = open.back();
    open.pop_back();
    const std::int64_t duration = recording.events.duration_ns[i];
    open.back().children_ns += duration;
    paths.add(closed.path, on_device ? analysis.launches().self_ns(i) : duration - closed.children_ns);
  };
  // Without the lanes: what overlaps others in part is no call, and its time is theirs already.
  for (std::uint32_t track = 0; track < recording.tracks.size(); ++track) {
    if (recording.tracks[track].kind == trace::Track::Kind::kThread) walk_row(recording, layout, track, begin, end, [](EventIndex) {});
  }
  return paths.stacks(names);
}

}  // namespace

std::vector<CollapsedStack> flame_stacks(const analyze::Analysis& analysis, std::string_view metric) {
  std::vector<CollapsedStack> stacks = analyze::collapsed_stacks(analysis, metric);
  return stacks.empty() ? nesting_stacks(analysis, metric != "self_cpu_time_total") : stacks;
}

std::vector<FlameNode> flame_tree(const std::vector<CollapsedStack>& stacks) {
  std::vector<CollapsedStack> sorted = stacks;
  std::ranges::sort(sorted, {}, &CollapsedStack::frames);
  std::vector<FlameNode> nodes{{"all", 0, 0, 0}};
  std::vector<std::size_t> path{0};  // the nodes of the stack before, from the root
  for (std::int64_t start = 0; const CollapsedStack& stack : sorted) {
    std::size_t shared = 0;
    while (shared < stack.frames.size() && shared + 1 < path.size() && nodes[path[shared + 1]].name == stack.frames[shared]) ++shared;
    path.resize(shared + 1);
    for (std::size_t i = shared; i < stack.frames.size(); ++i) {
      path.push_back(nodes.size());
      nodes.push_back({stack.frames[i], 0, static_cast<std::uint32_t>(i + 1), start});
    }
    for (const std::size_t node : path) nodes[node].weight_ns += stack.weight_ns;
    start += stack.weight_ns;
  }
  return nodes;
}

}  // namespace mindtorch::exporter
