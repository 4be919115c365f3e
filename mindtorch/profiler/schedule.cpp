// schedule(): torch's arithmetic and torch's texts.
#include "mindtorch/profiler/schedule.h"

#include <string>

#include "mindtorch/base/error.h"
#include "mindtorch/profiler/warning.h"

namespace mindtorch::profiler {

std::string_view action_name(ProfilerAction action) {
  switch (action) {
    case ProfilerAction::kNone: return "NONE";
    case ProfilerAction::kWarmup: return "WARMUP";
    case ProfilerAction::kRecord: return "RECORD";
    case ProfilerAction::kRecordAndSave: return "RECORD_AND_SAVE";
    case ProfilerAction::kDeviceStopped: return "DEVICE_STOPPED";
  }
  return "unknown";
}

ProfilerAction CyclicSchedule::operator()(std::int64_t step) const {
  if (step < 0) throw AssertionFailed(fmt::format("Step must be non-negative. Got {}.", step));
  if (step < options_.skip_first) return ProfilerAction::kNone;
  // Unsigned, so that an endless wait (the largest integer) can be added without overflow.
  const auto wait = static_cast<std::uint64_t>(options_.wait);
  const std::uint64_t first_active = wait + static_cast<std::uint64_t>(options_.warmup);
  const std::uint64_t cycle = first_active + static_cast<std::uint64_t>(options_.active);
  std::uint64_t at = static_cast<std::uint64_t>(step - options_.skip_first);
  // The wait that is left out still counts as part of the first cycle.
  if (options_.skip_first_wait != 0) at += wait;
  if (options_.repeat > 0 && at / cycle >= static_cast<std::uint64_t>(options_.repeat)) return ProfilerAction::kNone;
  at %= cycle;
  if (at < wait) return ProfilerAction::kNone;
  if (at < first_active) return ProfilerAction::kWarmup;
  return at + 1 < cycle ? ProfilerAction::kRecord : ProfilerAction::kRecordAndSave;
}

Schedule schedule(const ScheduleOptions& options) {
  const auto& [wait, warmup, active, repeat, skip_first, skip_first_wait] = options;
  if (wait < 0 || warmup < 0 || active <= 0 || repeat < 0 || skip_first < 0)
    throw ArgumentAssertion(fmt::format(
        "Invalid profiler schedule arguments. Got wait={} (need >= 0), warmup={} (need >= 0), active={} (need > 0), repeat={} (need "
        ">= 0), skip_first={} (need >= 0).",
        wait, warmup, active, repeat, skip_first));
  if (warmup == 0) warn(WarningCategory::kUser, std::string(kNoWarmupWarning));
  return CyclicSchedule(options);
}

}  // namespace mindtorch::profiler
