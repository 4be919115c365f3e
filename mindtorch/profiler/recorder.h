// Recorder: the pen as a Profile drives it, one trace after another. A Profile knows nothing else of how recording works.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mindtorch/profiler/activity.h"
#include "mindtorch/profiler/options.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::profiler {

// The order of calls is prepare, start, stop, again and again; the Profile sees to it.
class Recorder {
 public:
  virtual ~Recorder() = default;

  // Everything slow, so that start() is quick. Throws Error if somebody else in the process is recording; that recording is unharmed.
  virtual void prepare() = 0;
  virtual void start() = 0;
  // Ends the trace, also if it throws.
  virtual trace::Recording stop() = 0;
  // Forgets a trace that was prepared, or ends one that runs and drops it.
  virtual void discard() noexcept = 0;

  // The rest is called only while a trace runs.
  virtual void toggle(Activity activity, bool on) = 0;
  virtual void mark_step(std::int64_t step) = 0;
  virtual void open_step_scope(std::int64_t step) = 0;  // "ProfilerStep#<step>"
  virtual void close_step_scope() = 0;

  // Of the present trace: devices and hosts that were asked for and cannot be recorded, a sentence each.
  virtual std::vector<std::string> problems() const = 0;
  // Memory that events take now.
  virtual std::int64_t bytes_in_use() const = 0;
};

// The recorder of this process: record::Session and the sources of the activities.
std::unique_ptr<Recorder> make_session_recorder(const ProfileOptions& options, const std::vector<Activity>& activities);

}  // namespace mindtorch::profiler
