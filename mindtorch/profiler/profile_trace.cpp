// Profile: one trace from prepare to stop, with its warnings and files.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "mindtorch/analyze/steps.h"
#include "mindtorch/base/error.h"
#include "mindtorch/base/text.h"
#include "mindtorch/profiler/busy.h"
#include "mindtorch/profiler/job_metadata.h"
#include "mindtorch/profiler/misuse.h"
#include "mindtorch/profiler/profile.h"
#include "mindtorch/profiler/trace_id.h"
#include "mindtorch/trace/adjust_steps.h"
#include "mindtorch/trace/chrome_format.h"

namespace mindtorch::profiler {
namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr const char* kCyclesWarning =
    "Warning: Profiler clears events at the end of each cycle. Only events from the current cycle will be reported. To keep events across "
    "cycles, "
    "set acc_events=True.";

}  // namespace

void Profile::prepare_trace() {
  if (busy_ && !std::exchange(delegating_, false)) return tolerate("prepare_trace()", misuse::kFromCallback);
  if (phase_ == Phase::kRunning) return tolerate("prepare_trace()", misuse::kTraceRuns);
  const Busy busy(busy_);
  prepare();
}

void Profile::start_trace() {
  if (busy_ && !std::exchange(delegating_, false)) return tolerate("start_trace()", misuse::kFromCallback);
  if (!trace_id_) throw AssertionFailed("Profiler must be initialized before starting trace");
  if (phase_ == Phase::kRunning) return tolerate("start_trace()", misuse::kTraceRuns);
  const Busy busy(busy_);
  FirstFailure failure;
  if (phase_ == Phase::kIdle) failure.attempt([&] { prepare(); });
  if (phase_ == Phase::kPrepared) failure.attempt([&] { start_prepared(); });
  if (phase_ == Phase::kRunning) failure.attempt([&] { mark_step(); });
  failure.rethrow_if_any();
}

void Profile::stop_trace() {
  if (busy_ && !std::exchange(delegating_, false)) return tolerate("stop_trace()", misuse::kFromCallback);
  if (!trace_id_) throw AssertionFailed("Profiler must be initialized before stopping trace");
  if (phase_ != Phase::kRunning) return tolerate("stop_trace()", misuse::kNoTrace);
  const Busy busy(busy_);
  FirstFailure failure;
  finish(Keep::kYes, failure);
  failure.rethrow_if_any();
}

void Profile::prepare() {
  const bool again = trace_id_.has_value();
  std::string id = options_.custom_trace_id_callback ? options_.custom_trace_id_callback() : random_trace_id();
  const std::int64_t before = now_ns();
  if (phase_ == Phase::kPrepared) recorder_->discard();
  phase_ = Phase::kIdle;
  results_.forget_spilled();
  recorder_->prepare(options_, activities_);
  overhead_ = Overhead{.prepare_ns = now_ns() - before};
  trace_id_ = std::move(id);
  phase_ = Phase::kPrepared;
  // From here on a failure is one of the sink: the trace is prepared nevertheless.
  FirstFailure failure;
  if (again && !options_.acc_events && remember(kCyclesWarning)) failure.attempt([] { warn_once(WarningCategory::kUser, kCyclesWarning); });
  warn_about_problems(failure);
  failure.rethrow_if_any();
}

void Profile::start_prepared() {
  ExecutionObserver* const observer = options_.execution_trace_observer.get();
  if (observer) observer->start();
  const std::int64_t before = now_ns();
  FirstFailure failure;
  failure.attempt([&] { recorder_->start(); });
  if (failure) {
    phase_ = Phase::kIdle;
    recorder_->discard();
    if (observer) failure.attempt([&] { observer->stop(); });
    failure.rethrow_if_any();
  }
  phase_ = Phase::kRunning;
  process_ = ::getpid();
  marked_step_.reset();
  overhead_.window_start_ns = now_ns();
  overhead_.start_ns = overhead_.window_start_ns - before;
  if (observer) failure.attempt([&] { observer->started(); });
  warn_about_problems(failure);
  failure.rethrow_if_any();
}

void Profile::describe(trace::Recording& recording) const {
  if (!options_.activity_filters.empty()) trace::keep_kinds(recording, wanted_kinds_);
  if (options_.experimental_config.adjust_profiler_step) trace::adjust_steps(recording);
  recording.metadata.merge(job_metadata());
  recording.trace_id = trace_id_.value_or("");
  recording.options.flops = options_.with_flops;
  if (options_.with_stack && options_.experimental_config.verbose)
    recording.metadata.try_emplace(std::string(trace::chrome_format::kWholeStacks), "1");
  recording.options.activities.clear();
  for (const Activity activity : activities_)
    if (const auto device = device_type_of(activity)) recording.options.activities.push_back(*device);
}

trace::Recording Profile::snapshot(std::chrono::nanoseconds last) const {
  if (phase_ != Phase::kRunning) throw_error("profiler.snapshot", "the profile is not recording");
  std::string id = options_.custom_trace_id_callback ? options_.custom_trace_id_callback() : random_trace_id();
  trace::Recording recording = recorder_->snapshot(last);
  for (const auto& [key, json] : results_.metadata()) recording.metadata[key] = json;
  describe(recording);
  recording.trace_id = std::move(id);
  if (record_steps_ && !recording.steps.empty())
    recording.metadata[std::string(analyze::kOpenStepKey)] = std::to_string(recording.steps.back().step);
  return recording;
}

bool Profile::finish(Keep keep, FirstFailure& failure) {
  bool kept = false;
  if (options_.execution_trace_observer) failure.attempt([&] { options_.execution_trace_observer->stop(); });
  phase_ = Phase::kIdle;
  failure.attempt([&] {
    const std::int64_t before = now_ns();
    overhead_.window_ns = before - overhead_.window_start_ns;
    overhead_.bytes = recorder_->bytes_in_use();
    trace::Recording recording = recorder_->stop();
    overhead_.stop_ns = now_ns() - before;
    overhead_.events = recording.events.size();
    if (keep == Keep::kNo) return;
    describe(recording);
    const record::Budget& budget = options_.experimental_config.budget;
    if (budget.policy == record::Budget::Policy::kSpill)
      results_.keep_spilled(std::move(recording), budget.spill_path);
    else
      results_.keep(std::move(recording));
    kept = true;
  });
  return kept;
}

void Profile::drop_trace(FirstFailure& failure) {
  const Phase phase = std::exchange(phase_, Phase::kIdle);
  if (phase == Phase::kIdle) return;
  recorder_->discard();
  if (phase == Phase::kRunning && options_.execution_trace_observer) failure.attempt([&] { options_.execution_trace_observer->stop(); });
}

void Profile::toggle_collection_dynamic(bool enable, const std::vector<Activity>& activities) {
  if (phase_ != Phase::kRunning) return;
  for (const Activity activity : activities)
    if (std::find(activities_.begin(), activities_.end(), activity) != activities_.end()) recorder_->toggle(activity, enable);
}

}  // namespace mindtorch::profiler
