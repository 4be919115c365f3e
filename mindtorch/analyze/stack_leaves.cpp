// Stack leaves: one pass over the events, in which children take the place of their parents.
#include "mindtorch/analyze/stack_leaves.h"

#include <fmt/core.h>

#include <map>
#include <tuple>

#include "mindtorch/analyze/frame_labels.h"

namespace mindtorch::analyze {
namespace {

std::string thread_label(const trace::Track& track) { return track.name.empty() ? fmt::format("thread {}", track.id) : track.name; }

}  // namespace

std::vector<StackLeaf> stack_leaves(const Analysis& analysis) {
  const trace::Recording& recording = analysis.recording();
  if (recording.stacks.of_event.empty()) return {};
  const EventTree& tree = analysis.tree();
  const std::vector<std::int64_t> allocated = allocated_by_event(recording, analysis.memory_use());
  trace::Column<StackId> place = recorded_stacks(recording);
  std::map<std::tuple<StackId, trace::TrackId, EventNames::Key>, StackLeaf> leaves;
  for (trace::TrackId t = 0; t < recording.tracks.size(); ++t) {
    const trace::Track& track = recording.tracks[t];
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      const bool is_step = recording.events.kind[i] == trace::EventKind::kStep;
      if (is_step) place[i] = kNoStack;
      if (place[i] == kNoStack && tree.parent(i) != kNoEvent) place[i] = place[tree.parent(i)];
      if (is_step || !tree.is_node(i)) continue;
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

LeafPaths::LeafPaths(const Analysis& analysis) : analysis_(analysis) {
  const trace::Recording& recording = analysis.recording();
  for (const trace::Frame& frame : recording.stacks.frames) frames_.push_back(frame_label(recording, frame));
  for (const trace::Track& track : recording.tracks) threads_.push_back(thread_label(track));
}

std::vector<std::string_view> LeafPaths::of(const StackLeaf& leaf) const {
  std::vector<std::string_view> path;
  if (leaf.stack) {
    const std::vector<std::uint32_t> frames = analysis_.stacks().frame_ids(*leaf.stack);
    for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) path.emplace_back(frames_[*frame]);
  } else {
    path.emplace_back(threads_[leaf.track]);
  }
  path.push_back(analysis_.names().text(leaf.op));
  return path;
}

}  // namespace mindtorch::analyze
