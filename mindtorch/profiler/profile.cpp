// Profile: construction, and the state machine of start, step and stop.
#include "mindtorch/profiler/profile.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "mindtorch/base/error.h"
#include "mindtorch/profiler/busy.h"
#include "mindtorch/profiler/misuse.h"
#include "mindtorch/profiler/status.h"
#include "mindtorch/profiler/transition.h"
#include "mindtorch/record/session.h"

namespace mindtorch::profiler {

Profile::Profile(ProfileOptions options) : Profile(std::move(options), nullptr) {}

Profile::Profile(ProfileOptions options, std::unique_ptr<Recorder> recorder)
    : options_(std::move(options)),
      activities_(checked_activities(options_.activities.specified() ? options_.activities.list() : supported_activities())),
      recorder_(recorder ? std::move(recorder) : make_session_recorder()),
      record_steps_(static_cast<bool>(options_.schedule)),
      results_(options_.acc_events) {
  if (options_.post_processing_timeout_s && *options_.post_processing_timeout_s < 0)
    throw InvalidArgument("post_processing_timeout_s must be non-negative");
  wanted_kinds_ = wanted_kinds(activities_, options_.activity_filters);
  current_action_ = scheduled_action(0);
  warn_about_options();
}

Profile::~Profile() {
  FirstFailure failure;
  failure.attempt([&] { close(); });
  if (!failure) return;
  // The sink may throw in turn, and there is no caller to report this error to.
  FirstFailure of_sink;
  of_sink.attempt([&] { warn(WarningCategory::kUser, "A profile failed to close while it was destroyed: " + failure.text()); });
}

ProfilerAction Profile::scheduled_action(std::int64_t step) const {
  if (!options_.schedule) return ProfilerAction::kRecord;
  const ProfilerAction action = options_.schedule(step);
  if (action == ProfilerAction::kDeviceStopped)
    throw InvalidArgument(
        "ProfilerAction.DEVICE_STOPPED is set internally by the profiler and must not be returned by a user-provided schedule");
  if (action > ProfilerAction::kDeviceStopped)
    throw_error<InvalidArgument>("profiler.schedule", "a schedule must return a ProfilerAction, got {}", static_cast<int>(action));
  return action;
}

void Profile::start() {
  if (busy_) return tolerate("start()", misuse::kFromCallback);
  if (started_ || phase_ == Phase::kRunning) return tolerate("start()", misuse::kRunsAlready);
  const Busy busy(busy_);
  FirstFailure failure;
  transit(ProfilerAction::kNone, current_action_, failure);
  failure.attempt([&] { begin_step(); });
  if (failure) drop_trace(failure);
  failure.rethrow_if_any();
  started_ = ever_started_ = needs_cleanup_ = true;
  stop_if_wanted(failure);
  failure.rethrow_if_any();
}

void Profile::step() {
  if (busy_ || (ever_started_ && !started_ && phase_ == Phase::kIdle)) {
    if (!busy_) current_action_ = scheduled_action(step_num_ + 1);
    ++step_num_;
    return tolerate("step()", busy_ ? misuse::kStepFromCallback : misuse::kStepAfterStop);
  }
  const Busy busy(busy_);
  if (!started_ && phase_ == Phase::kIdle) tolerate("step()", misuse::kStepBeforeStart);
  const ProfilerAction next = scheduled_action(step_num_ + 1);
  end_step();
  const ProfilerAction previous = std::exchange(current_action_, next);
  ++step_num_;
  FirstFailure failure;
  transit(previous, next, failure);
  failure.attempt([&] { begin_step(); });
  stop_if_wanted(failure);
  failure.rethrow_if_any();
}

void Profile::stop() {
  if (busy_) {
    stop_wanted_ = true;
    return;
  }
  if (!started_ && phase_ == Phase::kIdle) {
    if (ever_started_ || trace_id_) return tolerate("stop()", misuse::kStoppedAlready);
    if (current_action_ == ProfilerAction::kNone) return;
    throw AssertionFailed("Profiler must be initialized before stopping trace");
  }
  const Busy busy(busy_);
  end_step();
  started_ = false;
  FirstFailure failure;
  transit(current_action_, std::nullopt, failure);
  end_trace(failure);
  stop_wanted_ = false;
  failure.rethrow_if_any();
}

void Profile::stop_if_wanted(FirstFailure& failure) {
  if (!std::exchange(stop_wanted_, false)) return;
  started_ = false;
  end_trace(failure);
}

// Drops a trace that prepare_trace(), start_trace() or a failed step has left behind.
void Profile::end_trace(FirstFailure& failure) {
  if (phase_ == Phase::kRunning) finish(Keep::kYes, failure);
  drop_trace(failure);
}

void Profile::tolerate(std::string_view call, std::string_view consequence) {
  const std::string text = fmt::format("{} of a profile {}", call, consequence);
  if (remember(text)) warn(WarningCategory::kUser, text);
}

void Profile::close() {
  if (phase_ == Phase::kRunning && process_ != ::getpid()) return abandon();
  FirstFailure failure;
  if (started_ || phase_ != Phase::kIdle) failure.attempt([&] { stop(); });
  if (std::exchange(needs_cleanup_, false) && options_.execution_trace_observer)
    failure.attempt([&] { options_.execution_trace_observer->cleanup(); });
  failure.rethrow_if_any();
}

void Profile::abandon() noexcept {
  started_ = needs_cleanup_ = false;
  phase_ = Phase::kIdle;
  recorder_->discard();
}

// Every call of the table is made, whatever the ones before it threw, so that a profile never ends between two states.
void Profile::transit(ProfilerAction from, std::optional<ProfilerAction> to, FirstFailure& failure) {
  const Transition transition = profiler::transition(from, to);
  if (!transition.warning.empty()) {
    const std::string text(transition.warning);
    remember(text);
    failure.attempt([&] { warn(WarningCategory::kUser, text); });
  }
  bool prepared_here = false, started_here = false, kept_here = false;
  for (const TraceCall call : transition.calls) {
    switch (call) {
      case TraceCall::kPrepare:
        prepared_here = true;
        failure.attempt([&] { made_by_owner(call) ? void() : prepare(); });
        break;
      case TraceCall::kStart:
        // Nothing is prepared after RECORD -> WARMUP, or if that failed in an earlier step. If it failed just now it is not tried again.
        if (phase_ == Phase::kIdle && !prepared_here) failure.attempt([&] { prepare(); });
        if (phase_ == Phase::kPrepared) failure.attempt([&] { made_by_owner(call) ? void() : start_prepared(); });
        started_here = true;
        break;
      case TraceCall::kStop:
        // A warm-up that nothing followed has recorded nothing: it must not take the place of the cycle before it.
        if (phase_ != Phase::kRunning) break;
        kept_here = true;
        failure.attempt([&] {
          if (!made_by_owner(call)) kept_here = finish(started_here && !results_.empty() ? Keep::kNo : Keep::kYes, failure);
        });
        break;
      case TraceCall::kReady:
        if (kept_here && options_.on_trace_ready) failure.attempt([&] { options_.on_trace_ready(*this); });
        break;
    }
    if (stop_wanted_ && phase_ == Phase::kIdle) return;  // the next cycle is not begun
  }
}

bool Profile::made_by_owner(TraceCall call) {
  if (!trace_calls_) return false;
  const Busy delegating(delegating_);
  trace_calls_(call);
  return true;
}

void Profile::end_step() {
  if (phase_ == Phase::kRunning && record_steps_) recorder_->close_step_scope();
}

void Profile::begin_step() {
  if (phase_ != Phase::kRunning) return;
  mark_step();
  if (record_steps_) recorder_->open_step_scope(step_num_);
}

void Profile::mark_step() {
  if (step_num_ < 0 || (marked_step_ && step_num_ <= *marked_step_)) return;
  recorder_->mark_step(step_num_);
  marked_step_ = step_num_;
}

bool flush_recording(std::chrono::milliseconds deadline) noexcept { return record::flush_recording(deadline); }

}  // namespace mindtorch::profiler
