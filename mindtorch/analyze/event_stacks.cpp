// EventStacks: forward stacks for backward events, and the frames worth showing.
#include "mindtorch/analyze/event_stacks.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace mindtorch::analyze {
namespace {

// For each event the innermost autograd node it runs in (itself included), kNoEvent in the forward pass.
std::vector<EventIndex> backward_nodes(const trace::Recording& recording, const EventTree& tree) {
  std::vector<EventIndex> node(recording.events.size(), kNoEvent);
  for (EventIndex i = 0; i < node.size(); ++i) {
    if (recording.events.kind[i] == trace::EventKind::kBackward) {
      node[i] = i;
    } else if (tree.parent(i) != kNoEvent) {
      node[i] = node[tree.parent(i)];
    }
  }
  return node;
}

}  // namespace

std::string frame_text(const trace::Recording& recording, const trace::Frame& frame) {
  return fmt::format("{}:{}:{}", recording.names[frame.file], frame.line, recording.names[frame.function]);
}

trace::Column<StackId> recorded_stacks(const trace::Recording& recording) {
  const trace::SideTable<StackId>& rows = recording.stacks.of_event;
  trace::Column<StackId> stacks;
  if (rows.empty()) return stacks;
  stacks.assign(recording.events.size(), kNoStack);
  for (std::size_t row = 0; row < rows.events.size(); ++row) stacks[rows.events[row]] = rows.row(row).front();
  return stacks;
}

EventStacks::EventStacks(const trace::Recording& recording, const EventTree& tree) : recording_(&recording) {
  const trace::Stacks& stacks = recording.stacks;
  if (stacks.of_event.empty()) return;
  origin_of_frame_.reserve(stacks.frames.size());
  for (const trace::Frame& frame : stacks.frames) origin_of_frame_.push_back(code_origin(recording.names[frame.file]));
  stack_of_event_ = recorded_stacks(recording);
  take_forward_stacks(tree);
}

void EventStacks::take_forward_stacks(const EventTree& tree) {
  const trace::EventColumns& events = recording_->events;
  const std::vector<EventIndex> backward = backward_nodes(*recording_, tree);
  std::unordered_map<std::uint64_t, EventIndex> forward_call;  // earliest call with a stack, by sequence number and thread
  for (const trace::Track& track : recording_->tracks) {
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      const std::uint64_t link = events.link[i];
      const bool is_forward = events.kind[i] == trace::EventKind::kOp && backward[i] == kNoEvent && trace::forward_thread_of(link) == 0;
      if (!is_forward || stack_of_event_[i] == kNoStack || trace::sequence_of(link) < 0) continue;
      const auto [at, is_new] = forward_call.emplace(trace::make_sequence_link(trace::sequence_of(link), track.number), i);
      if (!is_new && events.start_ns[i] < events.start_ns[at->second]) at->second = i;
    }
  }
  if (forward_call.empty()) return;
  for (EventIndex i = 0; i < events.size(); ++i) {
    if (backward[i] == kNoEvent) continue;
    const auto found = forward_call.find(events.link[backward[i]]);
    if (found != forward_call.end()) stack_of_event_[i] = stack_of_event_[found->second];
  }
}

std::optional<StackId> EventStacks::of(EventIndex event) const {
  if (empty() || stack_of_event_[event] == kNoStack) return std::nullopt;
  return stack_of_event_[event];
}

std::vector<std::uint32_t> EventStacks::frame_ids(StackId stack) const {
  std::vector<std::uint32_t> ids;
  for (const std::uint32_t id : recording_->stacks.frames_of(stack))
    if (origin_of_frame_[id] != CodeOrigin::kProfiler) ids.push_back(id);
  return ids;
}

std::vector<std::string> EventStacks::frames(StackId stack) const {
  std::vector<std::string> texts;
  for (const std::uint32_t id : frame_ids(stack)) texts.push_back(frame_text(*recording_, recording_->stacks.frames[id]));
  return texts;
}

std::vector<std::uint32_t> EventStacks::user_frame_ids(StackId stack, std::size_t limit) const {
  const auto all = recording_->stacks.frames_of(stack);
  const bool has_user = std::ranges::any_of(all, [&](std::uint32_t id) { return origin_of_frame_[id] == CodeOrigin::kUser; });
  std::vector<std::uint32_t> ids;
  for (const std::uint32_t id : all) {
    if (ids.size() == limit) break;
    const CodeOrigin origin = origin_of_frame_[id];
    if (origin == CodeOrigin::kUser || (!has_user && origin == CodeOrigin::kLibrary)) ids.push_back(id);
  }
  return ids;
}

std::vector<std::string> EventStacks::user_frames(StackId stack, std::size_t limit) const {
  std::vector<std::string> texts;
  for (const std::uint32_t id : user_frame_ids(stack, limit)) texts.push_back(frame_text(*recording_, recording_->stacks.frames[id]));
  return texts;
}

std::vector<std::uint32_t> EventStacks::group_by_user_frames(std::size_t limit) const {
  std::map<std::vector<std::uint32_t>, std::uint32_t> group_of_frames;
  std::vector<std::uint32_t> groups;
  groups.reserve(recording_->stacks.size());
  for (StackId stack = 0; stack < recording_->stacks.size(); ++stack) {
    const auto next = static_cast<std::uint32_t>(group_of_frames.size());
    groups.push_back(group_of_frames.emplace(user_frame_ids(stack, limit), next).first->second);
  }
  return groups;
}

}  // namespace mindtorch::analyze
