// Recorder: the interface through which a Profile records, one trace after another. A Profile depends on nothing else of the recorder.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/profiler/activity.h"
#include "mindtorch/profiler/options.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::profiler {

// The Profile calls prepare, start and stop in this order, any number of times.
class MINDTORCH_EXPORT Recorder {
 public:
  virtual ~Recorder() = default;

  // Does all slow work, so that start() is quick. The options are those of this trace. Throws ArgumentAssertion if no activity can be
  // recorded. If another recording runs in this process, that is one of the problems(), the trace is empty, and the other one goes on.
  virtual void prepare(const ProfileOptions& options, const std::vector<Activity>& activities) = 0;
  virtual void start() = 0;
  // Ends the trace, even if it throws.
  virtual trace::Recording stop() = 0;
  // The running trace as it is now, or the last part of it; it goes on. May be called by another thread than the other functions. stop(),
  // discard() and toggle() wait for it, the others do not.
  virtual trace::Recording snapshot(std::chrono::nanoseconds last) = 0;
  // Drops a trace that is prepared or running.
  virtual void discard() noexcept = 0;

  // The remaining functions are called only while a trace runs.
  virtual void toggle(Activity activity, bool on) = 0;
  virtual void mark_step(std::int64_t step) = 0;
  virtual void open_step_scope(std::int64_t step) = 0;  // "ProfilerStep#<step>"
  virtual void close_step_scope() = 0;

  // Returns one sentence for each device or host that the present trace should record and cannot.
  virtual std::vector<std::string> problems() const = 0;
  // Memory that events take now.
  virtual std::int64_t bytes_in_use() const = 0;
};

// The recorder of this process: record::Session and the sources of the activities.
MINDTORCH_EXPORT std::unique_ptr<Recorder> make_session_recorder();

}  // namespace mindtorch::profiler
