// Profile: its warnings, metadata and device.
#include <algorithm>
#include <utility>

#include "mindtorch/base/error.h"
#include "mindtorch/base/text.h"
#include "mindtorch/profiler/profile.h"

namespace mindtorch::profiler {
namespace {

constexpr const char* kTraceOnlyWarning =
    "trace_only=True is incompatible with with_stack=True (stack traces require event post-processing). Disabling trace_only.";
constexpr const char* kCountersWarning = "Hardware counters (profiler_metrics, performance_events) are not recorded.";

}  // namespace

bool Profile::remember(const std::string& text) {
  const Warning warning{WarningCategory::kUser, text};
  if (std::find(warnings_.begin(), warnings_.end(), warning) != warnings_.end()) return false;
  warnings_.push_back(warning);
  return true;
}

// Options that are accepted but cannot have their full effect.
void Profile::warn_about_options() {
  // schedule() has already passed this warning to the sink.
  if (const auto* cyclic = options_.schedule.target<CyclicSchedule>(); cyclic && cyclic->options().warmup == 0)
    remember(std::string(kNoWarmupWarning));
  ExperimentalConfig& config = options_.experimental_config;
  if (config.trace_only && options_.with_stack) {
    config.trace_only = false;
    remember(kTraceOnlyWarning);
    warn(WarningCategory::kUser, kTraceOnlyWarning);
  }
  if (!config.profiler_metrics.empty() || !config.performance_events.empty()) {
    remember(kCountersWarning);
    warn(WarningCategory::kUser, kCountersWarning);
  }
}

// Once per profile, not in each cycle.
void Profile::warn_about_problems(FirstFailure& failure) {
  for (const std::string& problem : recorder_->problems())
    if (remember(problem)) failure.attempt([&] { warn(WarningCategory::kUser, problem); });
}

void Profile::set_step_num(std::int64_t step) { step_num_ = step; }

void Profile::set_acc_events(bool on) {
  options_.acc_events = on;
  results_.set_accumulate(on);
}

void Profile::set_activities(std::vector<Activity> activities, std::vector<ActivityFilter> filters) {
  activities = checked_activities(std::move(activities));
  wanted_kinds_ = wanted_kinds(activities, filters);
  activities_ = std::move(activities);
  options_.activity_filters = std::move(filters);
}

void Profile::set_schedule(Schedule schedule) {
  record_steps_ = static_cast<bool>(schedule);
  options_.schedule = std::move(schedule);
}

std::optional<std::string> Profile::use_device() const {
  const auto has = [&](Activity activity) { return std::find(activities_.begin(), activities_.end(), activity) != activities_.end(); };
  if (has(Activity::kCuda)) return "cuda";
  if (has(Activity::kNpu)) return "npu";
  return std::nullopt;
}

void Profile::add_metadata(const std::string& key, std::string_view value) { results_.set_metadata(key, json_quoted(value)); }

void Profile::add_metadata_json(const std::string& key, std::string_view value) {
  results_.set_metadata(key, is_json(value) ? std::string(value) : json_quoted(value));
}

void Profile::preset_metadata_json(const std::string& key, std::string_view value) {
  {
    const std::lock_guard lock(preset_mutex_);
    preset_metadata_[key] = value;
  }
  add_metadata_json(key, value);
}

std::map<std::string, std::string> Profile::preset_metadata() const {
  const std::lock_guard lock(preset_mutex_);
  return preset_metadata_;
}

}  // namespace mindtorch::profiler
