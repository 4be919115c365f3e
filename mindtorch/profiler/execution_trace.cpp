// ExecutionTrace: stretches of time, and the recordings that cover them.
#include "mindtorch/profiler/execution_trace.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "mindtorch/base/error.h"
#include "mindtorch/export/chakra/chakra_writer.h"
#include "mindtorch/trace/append.h"

namespace mindtorch::profiler {
namespace {

std::int64_t unix_now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::mutex current_mutex;
ExecutionTrace* current = nullptr;  // the one that runs

constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();

}  // namespace

ExecutionTrace::~ExecutionTrace() {
  try {
    unregister();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // A destructor cannot report the error. The file that was there before is untouched.
  }
}

void ExecutionTrace::register_output(std::string path) {
  if (registered_) return;
  if (!record::set_recording_listener(this))
    throw_error("profiler.ExecutionTrace", "another execution trace is registered in this process; unregister it first");
  path_ = std::move(path);
  registered_ = true;
  record::call_details_state = record::CallDetailsState::kPaused;
}

void ExecutionTrace::start() {
  if (!registered_ || running_) return;
  {
    const std::lock_guard lock(mutex_);
    windows_.emplace_back(unix_now_ns(), kOpen);
  }
  running_ = true;
  record::call_details_state = record::CallDetailsState::kOn;
  const std::lock_guard lock(current_mutex);
  current = this;
  record_alone();
}

void ExecutionTrace::record_alone() {
  session_ = record::Session::prepare_if_free({.shapes = true, .memory = true});
  if (session_) session_->start();  // otherwise a profile records, or is about to: its recording is ours too
}

void ExecutionTrace::make_way() {
  const std::lock_guard lock(current_mutex);
  if (current == nullptr) return;
  if (const std::unique_ptr<record::Session> session = std::move(current->session_)) session->stop();  // which calls recorded()
}

void ExecutionTrace::go_on() {
  const std::lock_guard lock(current_mutex);
  if (current != nullptr) current->record_alone();
}

void ExecutionTrace::stop() {
  if (!running_) return;
  running_ = false;
  record::call_details_state = record::CallDetailsState::kPaused;
  {
    const std::lock_guard lock(mutex_);
    windows_.back().second = unix_now_ns();
  }
  const std::lock_guard lock(current_mutex);
  if (current == this) current = nullptr;
  if (const std::unique_ptr<record::Session> session = std::move(session_)) session->stop();  // which calls recorded()
}

void ExecutionTrace::recorded(const trace::Recording& recording) noexcept {
  const std::lock_guard lock(mutex_);
  const std::int64_t start = recording.clock.base_unix_ns + recording.clock.start_ns;
  const std::int64_t end = recording.clock.base_unix_ns + recording.clock.end_ns;
  if (std::none_of(windows_.begin(), windows_.end(), [&](const auto& window) { return window.first <= end && start <= window.second; }))
    return;
  try {
    if (has_recording_)
      trace::append(collected_, recording);
    else
      collected_ = recording;
    has_recording_ = true;
  } catch (const std::exception&) {
    lost_ = true;  // reported by unregister()
  }
}

void ExecutionTrace::write(const record::CallDetailsById& details) const {
  std::vector<exporter::TimeWindow> windows;
  const std::int64_t base = collected_.clock.base_unix_ns;
  for (const auto& [start, end] : windows_) windows.push_back({start - base, end == kOpen ? kOpen : end - base});
  if (windows.empty()) windows.push_back({0, -1});  // never started: nothing is wanted
  exporter::write_chakra_trace(collected_, path_, {windows, &details, process_groups_});
}

void ExecutionTrace::unregister() {
  if (!registered_) return;
  stop();
  registered_ = false;
  record::call_details_state = record::CallDetailsState::kOff;
  record::set_recording_listener(nullptr);
  const record::CallDetailsById details = record::take_call_details();
  const std::lock_guard lock(mutex_);
  struct Forget {
    ExecutionTrace& it;
    ~Forget() {
      it.windows_.clear();
      it.collected_ = {};
      it.process_groups_.clear();
      it.has_recording_ = it.lost_ = false;
    }
  } forget{*this};
  write(details);
  if (lost_) throw_error("profiler.ExecutionTrace", "a recording is missing from {}: there was not enough memory for it", path_);
}

}  // namespace mindtorch::profiler
