// SessionRecorder: a Recorder over record::Session, one session per trace.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "mindtorch/profiler/recorder.h"
#include "mindtorch/record/hooks.h"
#include "mindtorch/record/session.h"
#include "mindtorch/record/source.h"

namespace mindtorch::profiler {

class SessionRecorder : public Recorder {
 public:
  // `sources` are tried in their order, one for each device; they must outlive this.
  explicit SessionRecorder(std::vector<record::ActivitySource*> sources) : sources_(std::move(sources)), pid_(::getpid()) {}

  void prepare(const ProfileOptions& options, const std::vector<Activity>& activities) override;
  void start() override;
  trace::Recording stop() override;
  trace::Recording snapshot(std::chrono::nanoseconds last) override;
  void discard() noexcept override;
  void toggle(Activity activity, bool on) override;
  void mark_step(std::int64_t step) override;
  void open_step_scope(std::int64_t step) override;
  void close_step_scope() override;
  std::vector<std::string> problems() const override;
  std::int64_t bytes_in_use() const override;

 private:
  // The first source that can record the device of `activity`. Otherwise null, and problems_ has the reason.
  record::ActivitySource* usable_source(Activity activity);
  // Waits for a snapshot. In a forked child, the thread that took it does not exist: there it locks nothing.
  std::unique_lock<std::mutex> wait_for_snapshot();

  record::SessionOptions options_;  // of the present trace
  std::vector<record::ActivitySource*> sources_;
  std::vector<std::string> problems_;
  std::unique_ptr<record::Session> session_;  // null if another session is active
  std::mutex snapshot_mutex_;                 // held while a snapshot is taken
  const pid_t pid_;
  record::NamedScope step_scope_;
};

}  // namespace mindtorch::profiler
