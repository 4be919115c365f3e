// Stack leaves: one pass over the events, in which children take the place of their parents.
#include "mindtorch/analyze/stack_leaves.h"

#include <fmt/core.h>

#include <map>
#include <tuple>

#include "mindtorch/analyze/frame_labels.h"

namespace mindtorch::analyze {
namespace {

constexpr StackId kNoStack = 0xFFFFFFFF;

// By event: the stack that was recorded with it.
std::vector<StackId> recorded_stacks(const trace::Recording& recording) {
  std::vector<StackId> stacks(recording.events.size(), kNoStack);
  const trace::SideTable<StackId>& rows = recording.stacks.of_event;
  for (std::size_t row = 0; row < rows.events.size(); ++row) stacks[rows.events[row]] = rows.row(row).front();
  return stacks;
}

std::string thread_label(const trace::Track& track) { return track.name.empty() ? fmt::format("thread {}", track.id) : track.name; }

}  // namespace

std::vector<StackLeaf> stack_leaves(const Analysis& analysis) {
  const trace::Recording& recording = analysis.recording();
  if (recording.stacks.of_event.empty()) return {};
  const EventTree& tree = analysis.tree();
  const std::vector<std::int64_t> allocated = allocated_by_event(recording, analysis.memory_use());
  std::vector<StackId> place = recorded_stacks(recording);
  std::map<std::tuple<StackId, trace::TrackId, EventNames::Key>, StackLeaf> leaves;
  for (trace::TrackId t = 0; t < recording.tracks.size(); ++t) {
    const trace::Track& track = recording.tracks[t];
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      if (place[i] == kNoStack && tree.parent(i) != kNoEvent) place[i] = place[tree.parent(i)];
      if (!tree.is_node(i) || recording.events.kind[i] == trace::EventKind::kStep) continue;
      const bool has_stack = place[i] != kNoStack;
      const EventNames::Key op = analysis.names().key(recording.events.name[i]);
      StackLeaf& leaf = leaves[{place[i], has_stack ? 0 : t, op}];
      if (has_stack) leaf.stack = place[i];
      leaf.track = t;
      leaf.op = op;
      ++leaf.calls;
      leaf.self_ns += tree.self_ns(i);
      leaf.self_device_ns += analysis.launches().self_ns(i);
      if (!allocated.empty()) leaf.allocated += allocated[i];
    }
  }
  std::vector<StackLeaf> list;
  list.reserve(leaves.size());
  for (const auto& [key, leaf] : leaves) list.push_back(leaf);
  return list;
}

std::vector<std::string> path_of(const Analysis& analysis, const StackLeaf& leaf) {
  const trace::Recording& recording = analysis.recording();
  std::vector<std::string> path;
  if (leaf.stack) {
    const std::vector<std::uint32_t> frames = analysis.stacks().frame_ids(*leaf.stack);
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
      path.push_back(frame_label(recording, recording.stacks.frames[*frame]));
  } else {
    path.push_back(thread_label(recording.tracks[leaf.track]));
  }
  path.emplace_back(analysis.names().text(leaf.op));
  return path;
}

}  // namespace mindtorch::analyze
