// Samples of threads as other viewers know them: looks that all count the same, without a duration.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter {

struct Look {
  std::int64_t time_ns = 0;
  trace::StackId stack = 0;
  trace::ThreadState state = trace::ThreadState::kUnknown;
};

// By track, in order of time. A thread that runs or could run has a look for each interval of the sampler. One that waits has a single look
// when it begins to wait: threads that wait for hours would fill files.
std::vector<std::vector<Look>> looks_of(const trace::Recording& recording);

// What viewers show as the innermost call of a thread that does not run: "[waits_for_lock]"; empty for one that runs.
std::string_view state_frame(trace::ThreadState state);

}  // namespace mindtorch::exporter
