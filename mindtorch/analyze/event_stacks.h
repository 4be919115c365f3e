// EventStacks: the call stack of each event as text, and to whose code each frame belongs.
//
// An event of the backward pass has the stack of the forward call that it belongs to (same sequence number, forward thread), as in torch,
// because that is the line that a user can change. Without a forward call in the recording it keeps its own stack.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/code_origin.h"
#include "mindtorch/analyze/event_tree.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::analyze {

using trace::StackId;

inline constexpr StackId kNoStack = 0xFFFFFFFF;

class MINDTORCH_EXPORT EventStacks {
 public:
  // O(events) and 4 bytes per event if the recording has stacks, else nothing.
  EventStacks(const trace::Recording& recording, const EventTree& tree);

  bool empty() const { return stack_of_event_.empty(); }
  // The stack an event is shown with.
  std::optional<StackId> of(EventIndex event) const;
  // The frames of a stack (into Stacks::frames), innermost first, the profiler's own left out; and the same as "file:line:function".
  std::vector<std::uint32_t> frame_ids(StackId stack) const;
  std::vector<std::string> frames(StackId stack) const;
  // The same, but only frames of the user's own code (all frames if there are none of these); at most `limit`.
  std::vector<std::string> user_frames(StackId stack, std::size_t limit) const;
  // For each stack a number that two stacks share if and only if their user_frames(stack, limit) are equal.
  std::vector<std::uint32_t> group_by_user_frames(std::size_t limit) const;

 private:
  void take_forward_stacks(const EventTree& tree);
  std::vector<std::uint32_t> user_frame_ids(StackId stack, std::size_t limit) const;

  const trace::Recording* recording_;
  std::vector<CodeOrigin> origin_of_frame_;
  trace::Column<StackId> stack_of_event_;
};

// By event: the stack that was recorded with it, or kNoStack. Of no size if the recording has no stacks.
trace::Column<StackId> recorded_stacks(const trace::Recording& recording);

// "file:line:function".
MINDTORCH_EXPORT std::string frame_text(const trace::Recording& recording, const trace::Frame& frame);

}  // namespace mindtorch::analyze
