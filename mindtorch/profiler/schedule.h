// schedule(): which steps of a training loop are recorded. The C++ counterpart of torch.profiler.schedule and ProfilerAction.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "mindtorch/base/export.h"

namespace mindtorch::profiler {

// The action of the profiler during one step. The numbers are torch's.
enum class ProfilerAction : std::uint8_t {
  kNone = 0,
  kWarmup = 1,  // everything is prepared, nothing recorded
  kRecord = 2,
  kRecordAndSave = 3,  // the last recorded step of a cycle: on_trace_ready is called when it ends
  kDeviceStopped = 4,  // torch's internal state; a schedule that returns it is refused
};

MINDTORCH_EXPORT std::string_view action_name(ProfilerAction action);  // "NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE", "DEVICE_STOPPED"

// The action of each step, 0 being the one that start() begins. Called by Profile's constructor and then once per step, on the thread that
// calls step(). That call throws the exceptions of the schedule.
using Schedule = std::function<ProfilerAction(std::int64_t step)>;

// Skip `skip_first` steps; then cycles of `wait` idle, `warmup` and `active` recorded steps; `repeat` cycles, 0 = without end.
struct ScheduleOptions {
  std::int64_t wait = 0;
  std::int64_t warmup = 0;
  std::int64_t active = 0;
  std::int64_t repeat = 0;
  std::int64_t skip_first = 0;
  std::int64_t skip_first_wait = 0;  // not 0: the first cycle does without its `wait`
};

// The function object that schedule() returns. Schedule::target<CyclicSchedule>() gives access to it.
class MINDTORCH_EXPORT CyclicSchedule {
 public:
  explicit CyclicSchedule(const ScheduleOptions& options) : options_(options) {}
  // Throws AssertionFailed if `step` is negative.
  ProfilerAction operator()(std::int64_t step) const;
  const ScheduleOptions& options() const noexcept { return options_; }

 private:
  ScheduleOptions options_;
};

// Throws ArgumentAssertion with torch's text if active is not positive or another number is negative. Without warm-up it warns
// (mindtorch/profiler/warning.h).
MINDTORCH_EXPORT Schedule schedule(const ScheduleOptions& options);

// The text of that warning.
inline constexpr std::string_view kNoWarmupWarning = "Profiler won't be using warmup, this can skew profiler results";

}  // namespace mindtorch::profiler
