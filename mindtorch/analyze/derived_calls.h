// Python functions that were open around events, derived from the stacks of events. Nothing is recorded for them: a function begins with
// the first event that was called from it and ends with the last, so it is shorter than the call was, and a call without events is missing.
#pragma once

#include <cstdint>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::analyze {

struct DerivedCall {
  trace::TrackId track = 0;
  std::uint32_t frame = 0;            // in Stacks::frames: the function, and the line it was in when its first event began
  trace::EventIndex first_event = 0;  // which begins with the call and lies in it
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  friend bool operator==(const DerivedCall&, const DerivedCall&) = default;
};

// By track, in order of start, outer before inner. A call contains its events wholly, and an event contains wholly what is called in it.
// Empty if the recording contains recorded Python calls, or no stacks. O(events * depth of stacks).
MINDTORCH_EXPORT std::vector<DerivedCall> derived_calls(const trace::Recording& recording);

}  // namespace mindtorch::analyze
