// SessionRecorder: options to session options, activities to sources.
#include "mindtorch/profiler/session_recorder.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "mindtorch/base/error.h"
#include "mindtorch/profiler/status.h"
#include "mindtorch/sources/sources.h"

namespace mindtorch::profiler {

SessionRecorder::SessionRecorder(const ProfileOptions& options, std::vector<Activity> activities,
                                 std::vector<record::ActivitySource*> sources)
    : options_{.shapes = options.record_shapes || options.with_flops,
               .stacks = options.with_stack,
               .memory = options.profile_memory,
               .modules = options.with_modules,
               .overloads = options.experimental_config.capture_overload_names,
               .ranges = options.experimental_config.enable_nvtx,
               .all_threads = options.experimental_config.profile_all_threads,
               .events = std::find(activities.begin(), activities.end(), Activity::kCpu) != activities.end(),
               .budget = options.experimental_config.budget,
               .device = {.synchronizations = options.experimental_config.enable_cuda_sync_events,
                          .whole_graphs = options.experimental_config.whole_cuda_graphs,
                          .stop_deadline = options.experimental_config.device_stop_deadline,
                          .extras = options.experimental_config.device_extras},
               .clock = options.clock},
      activities_(std::move(activities)),
      sources_(std::move(sources)),
      pid_(::getpid()) {}

void SessionRecorder::prepare() {
  problems_.clear();
  record::SessionOptions options = options_;
  for (const Activity activity : activities_) {
    if (activity == Activity::kCpu) continue;
    if (record::ActivitySource* source = usable_source(activity)) options.sources.push_back(source);
  }
  session_ = record::Session::prepare(std::move(options));
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

void SessionRecorder::start() { session_->start(); }

std::unique_lock<std::mutex> SessionRecorder::wait_for_snapshot() {
  return ::getpid() == pid_ ? std::unique_lock(snapshot_mutex_) : std::unique_lock<std::mutex>();
}

trace::Recording SessionRecorder::snapshot() {
  const auto lock = wait_for_snapshot();
  if (!session_) throw_error("record.snapshot", "the session was stopped");
  return session_->snapshot();
}

trace::Recording SessionRecorder::stop() {
  const auto lock = wait_for_snapshot();
  close_step_scope();
  const std::unique_ptr<record::Session> session = std::move(session_);
  return session->stop();
}

void SessionRecorder::discard() noexcept {
  const auto lock = wait_for_snapshot();
  close_step_scope();
  session_.reset();
}

void SessionRecorder::toggle(Activity activity, bool on) {
  const auto lock = wait_for_snapshot();
  if (activity == Activity::kCpu)
    session_->toggle_events(on);
  else
    session_->toggle_source(*device_type_of(activity), on);
}

void SessionRecorder::mark_step(std::int64_t step) { session_->mark_step(step); }

void SessionRecorder::open_step_scope(std::int64_t step) { step_scope_ = record::NamedScope::step(step); }

void SessionRecorder::close_step_scope() { step_scope_.close(); }

std::vector<std::string> SessionRecorder::problems() const {
  std::vector<std::string> all = problems_;
  if (session_) all.insert(all.end(), session_->source_problems().begin(), session_->source_problems().end());
  return all;
}

std::int64_t SessionRecorder::bytes_in_use() const { return session_ ? session_->bytes_in_use() : 0; }

std::unique_ptr<Recorder> make_session_recorder(const ProfileOptions& options, const std::vector<Activity>& activities) {
  return std::make_unique<SessionRecorder>(options, activities, sources::all_sources());
}

}  // namespace mindtorch::profiler
