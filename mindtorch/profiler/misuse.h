// What becomes of calls of a profile in a wrong order. torch.profiler lets a program go on after them, so they are warnings.
#pragma once

#include <string_view>

namespace mindtorch::profiler::misuse {

inline constexpr std::string_view kFromCallback =
    "was called from inside a callback of the same profile and has no effect: call it afterwards.";
inline constexpr std::string_view kStepFromCallback = "was called from inside a callback of the same profile: the step is counted.";
inline constexpr std::string_view kStepAfterStop =
    "was called after stop(): the step is counted and not recorded. Call start() to record again.";
inline constexpr std::string_view kStepBeforeStart = "was called before start(): the schedule is followed from here. Call start() first.";
inline constexpr std::string_view kRunsAlready = "was called while the profile runs: it goes on.";
inline constexpr std::string_view kStoppedAlready = "was called on a profile that is already stopped and has no effect.";
inline constexpr std::string_view kTraceRuns = "was called while a trace runs: it goes on.";
inline constexpr std::string_view kNoTrace = "was called while no trace runs and has no effect.";

}  // namespace mindtorch::profiler::misuse
