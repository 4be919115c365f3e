// SessionRecorder: options to session options, activities to sources.
#include "mindtorch/profiler/session_recorder.h"

#include <algorithm>
#include <utility>

#include "mindtorch/base/error.h"
#include "mindtorch/profiler/execution_trace.h"
#include "mindtorch/profiler/status.h"
#include "mindtorch/profiler/warning.h"
#include "mindtorch/sources/sources.h"
#include "mindtorch/trace/builder.h"

namespace mindtorch::profiler {

namespace {

constexpr const char* kOtherSession =
    "Another profiling session is active and goes on: this profile records nothing. Stop the other one before this one starts.";

record::SessionOptions session_options(const ProfileOptions& options, const std::vector<Activity>& activities) {
  const ExperimentalConfig& config = options.experimental_config;
  return {.shapes = options.record_shapes || options.with_flops,
          .stacks = options.with_stack,
          .memory = options.profile_memory,
          .modules = options.with_modules,
          .overloads = config.capture_overload_names,
          .ranges = config.enable_nvtx,
          .all_threads = config.profile_all_threads,
          .events = std::find(activities.begin(), activities.end(), Activity::kCpu) != activities.end(),
          .budget = config.budget,
          .device = {.synchronizations = config.enable_cuda_sync_events,
                     .whole_graphs = config.whole_cuda_graphs,
                     .stop_deadline = config.device_stop_deadline,
                     .extras = config.device_extras},
          .sampling_interval = config.sampling_interval,
          .clock = options.clock};
}

bool has_source(Activity activity) { return device_type_of(activity).has_value(); }

// Lets an execution trace go on when a trace of a profile has ended.
struct GoOn {
  GoOn() = default;
  GoOn(const GoOn&) = delete;
  GoOn& operator=(const GoOn&) = delete;
  ~GoOn() { ExecutionTrace::go_on(); }
};

}  // namespace

void SessionRecorder::prepare(const ProfileOptions& options, const std::vector<Activity>& activities) {
  problems_.clear();
  options_ = session_options(options, activities);
  for (const Activity activity : activities) {
    if (activity == Activity::kCpu) continue;
    if (record::ActivitySource* source = usable_source(activity)) options_.sources.push_back(source);
  }
  if (std::none_of(activities.begin(), activities.end(), has_source)) {
    for (const std::string& problem : problems_) warn(WarningCategory::kUser, problem);
    throw ArgumentAssertion("No activities specified for the profiler");
  }
  session_ = record::Session::prepare_if_free(options_);
}

record::ActivitySource* SessionRecorder::usable_source(Activity activity) {
  std::string reasons;
  for (record::ActivitySource* source : sources_) {
    if (activity_of(*source) != activity) continue;
    const Status available = source->probe();
    if (available) return source;
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", source->name(), available.reason());
  }
  const std::string_view name = activity_name(activity);
  problems_.push_back(
      fmt::format("{} is not available, disabling {} profiling ({})", name, name, reasons.empty() ? "no source watches it" : reasons));
  return nullptr;
}

void SessionRecorder::start() {
  if (!session_) {
    ExecutionTrace::make_way();
    session_ = record::Session::prepare_if_free(options_);
  }
  if (session_)
    session_->start();
  else
    problems_.emplace_back(kOtherSession);
}

std::unique_lock<std::mutex> SessionRecorder::wait_for_snapshot() {
  return ::getpid() == pid_ ? std::unique_lock(snapshot_mutex_) : std::unique_lock<std::mutex>();
}

trace::Recording SessionRecorder::snapshot(std::chrono::nanoseconds last) {
  const auto lock = wait_for_snapshot();
  if (!session_) throw_error("record.snapshot", "the session was stopped");
  return session_->snapshot(last);
}

trace::Recording SessionRecorder::stop() {
  const auto lock = wait_for_snapshot();
  close_step_scope();
  if (!session_) return trace::RecordingBuilder().finish();
  const std::unique_ptr<record::Session> session = std::move(session_);
  const GoOn after;
  return session->stop();
}

void SessionRecorder::discard() noexcept {
  const auto lock = wait_for_snapshot();
  close_step_scope();
  if (!session_) return;
  session_.reset();
  ExecutionTrace::go_on();
}

void SessionRecorder::toggle(Activity activity, bool on) {
  const auto lock = wait_for_snapshot();
  if (!session_) return;
  if (activity == Activity::kCpu)
    session_->toggle_events(on);
  else if (const auto device = device_type_of(activity))
    session_->toggle_source(*device, on);
}

void SessionRecorder::mark_step(std::int64_t step) {
  if (session_) session_->mark_step(step);
}

void SessionRecorder::open_step_scope(std::int64_t step) {
  if (session_) step_scope_ = record::NamedScope::step(step);
}

void SessionRecorder::close_step_scope() { step_scope_.close(); }

std::vector<std::string> SessionRecorder::problems() const {
  std::vector<std::string> all = problems_;
  if (session_) all.insert(all.end(), session_->source_problems().begin(), session_->source_problems().end());
  return all;
}

std::int64_t SessionRecorder::bytes_in_use() const { return session_ ? session_->bytes_in_use() : 0; }

std::unique_ptr<Recorder> make_session_recorder() { return std::make_unique<SessionRecorder>(sources::all_sources()); }

}  // namespace mindtorch::profiler
