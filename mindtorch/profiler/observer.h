// ExecutionObserver: code that is started and stopped together with every trace (torch: execution_trace_observer).
#pragma once

#include "mindtorch/base/export.h"

namespace mindtorch::profiler {

// Called on the thread that drives the profile. If a call throws, the profile completes its own call first and then throws the exception.
class MINDTORCH_EXPORT ExecutionObserver {
 public:
  virtual ~ExecutionObserver() = default;
  virtual void start() = 0;    // once per trace, before its first event
  virtual void started() {}    // once per trace, when events are recorded, before its first step
  virtual void stop() = 0;     // once per trace, after its last event
  virtual void cleanup() = 0;  // when the profile is closed or destroyed
};

}  // namespace mindtorch::profiler
