// Profile: construction, and the state machine of start, step and stop.
#include "mindtorch/profiler/profile.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "mindtorch/base/error.h"
#include "mindtorch/profiler/busy.h"
#include "mindtorch/profiler/status.h"
#include "mindtorch/profiler/transition.h"

namespace mindtorch::profiler {

Profile::Profile(ProfileOptions options) : Profile(std::move(options), nullptr) {}

Profile::Profile(ProfileOptions options, std::unique_ptr<Recorder> recorder)
    : options_(std::move(options)),
      activities_(checked_activities(options_.activities.specified() ? options_.activities.list() : supported_activities())),
      recorder_(std::move(recorder)),
      record_steps_(static_cast<bool>(options_.schedule)),
      results_(options_.acc_events) {
  if (options_.post_processing_timeout_s && *options_.post_processing_timeout_s < 0)
    throw InvalidArgument("post_processing_timeout_s must be non-negative");
  wanted_kinds_ = wanted_kinds(activities_, options_.activity_filters);
  if (!recorder_) recorder_ = make_session_recorder(options_, activities_);
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
  const Busy busy(busy_, "profiler.start");
  if (started_ || phase_ == Phase::kRunning) throw_error("profiler.start", "the profiler is already running: call stop() first");
  FirstFailure failure;
  transit(ProfilerAction::kNone, current_action_, failure);
  failure.attempt([&] { begin_step(); });
  if (failure) drop_trace(failure);
  failure.rethrow_if_any();
  started_ = ever_started_ = needs_cleanup_ = true;
}

void Profile::step() {
  const Busy busy(busy_, "profiler.step");
  if (!started_ && phase_ != Phase::kRunning) throw_error("profiler.step", "profiler session is not active: call start() first");
  const ProfilerAction next = scheduled_action(step_num_ + 1);
  end_step();
  const ProfilerAction previous = std::exchange(current_action_, next);
  ++step_num_;
  FirstFailure failure;
  transit(previous, next, failure);
  failure.attempt([&] { begin_step(); });
  failure.rethrow_if_any();
}

void Profile::stop() {
  const Busy busy(busy_, "profiler.stop");
  if (!started_ && phase_ == Phase::kIdle) {
    if (!ever_started_ && !trace_id_) throw AssertionFailed("Profiler must be initialized before stopping trace");
    throw_error("profiler.stop", "the profiler is already stopped");
  }
  end_step();
  started_ = false;
  FirstFailure failure;
  transit(current_action_, std::nullopt, failure);
  // Drops a trace that prepare_trace(), start_trace() or a failed step has left behind.
  if (phase_ == Phase::kRunning) finish(Keep::kYes, failure);
  drop_trace(failure);
  failure.rethrow_if_any();
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
        failure.attempt([&] { prepare(); });
        break;
      case TraceCall::kStart:
        // Nothing is prepared after RECORD -> WARMUP, or if that failed in an earlier step. If it failed just now it is not tried again.
        if (phase_ == Phase::kIdle && !prepared_here) failure.attempt([&] { prepare(); });
        if (phase_ == Phase::kPrepared) failure.attempt([&] { start_prepared(); });
        started_here = true;
        break;
      case TraceCall::kStop:
        // A warm-up that nothing followed has recorded nothing: it must not take the place of the cycle before it.
        if (phase_ == Phase::kRunning) kept_here = finish(started_here && !results_.empty() ? Keep::kNo : Keep::kYes, failure);
        break;
      case TraceCall::kReady:
        if (kept_here && options_.on_trace_ready) failure.attempt([&] { options_.on_trace_ready(*this); });
        break;
    }
  }
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
  if (marked_step_ && step_num_ <= *marked_step_) return;
  recorder_->mark_step(step_num_);
  marked_step_ = step_num_;
}

}  // namespace mindtorch::profiler
