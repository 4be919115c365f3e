// Our traces write the frames of a stack once, with its id. Other events that have this stack refer to the id, which may be in a part of
// the file that another thread reads. Until all parts are together, a reference is a stack of one frame that no real stack has.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "mindtorch/trace/recording.h"

namespace mindtorch::ingest::chrome {

inline constexpr std::int64_t kMaxStackId = std::numeric_limits<std::int32_t>::max();

// The line of the frame that refers to a stack. The frame has neither a file nor a function.
constexpr std::int32_t stack_reference(std::int64_t id) { return static_cast<std::int32_t>(-1 - id); }

// Gives events the stacks that they refer to, and removes what stood for them. `stack_of_id` are the ids in the file and their stacks. An
// event that refers to an id which is not there has no stack.
void resolve_stack_references(const std::vector<std::pair<std::int64_t, trace::StackId>>& stack_of_id, trace::Stacks& stacks);

}  // namespace mindtorch::ingest::chrome
