// SessionRecorder: a Recorder over record::Session, one session per trace.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mindtorch/profiler/recorder.h"
#include "mindtorch/record/hooks.h"
#include "mindtorch/record/session.h"
#include "mindtorch/record/source.h"

namespace mindtorch::profiler {

class SessionRecorder : public Recorder {
 public:
  // `sources` are tried in their order, one for each device; they must outlive this.
  SessionRecorder(const ProfileOptions& options, std::vector<Activity> activities, std::vector<record::ActivitySource*> sources);

  void prepare() override;
  void start() override;
  trace::Recording stop() override;
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

  record::SessionOptions options_;
  std::vector<Activity> activities_;
  std::vector<record::ActivitySource*> sources_;
  std::vector<std::string> problems_;
  std::unique_ptr<record::Session> session_;
  record::NamedScope step_scope_;
};

}  // namespace mindtorch::profiler
