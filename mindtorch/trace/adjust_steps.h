// The option adjust_profiler_step of torch's profiler: steps that begin in one Python call and end in the next begin with the latter.
#pragma once

#include "mindtorch/trace/recording.h"

namespace mindtorch::trace {

// A loop whose body is a function that calls step() last has steps that begin at the end of one call of that function and end in the next.
// Such a step is moved: it begins a nanosecond after the first recorded Python call that begins after it and that it ends in.
// O(steps * calls in a step).
void adjust_steps(Recording& recording);

}  // namespace mindtorch::trace
