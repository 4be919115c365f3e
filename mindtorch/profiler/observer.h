// ExecutionObserver: somebody else who wants to run exactly while a trace runs (torch: execution_trace_observer).
#pragma once

namespace mindtorch::profiler {

// Called on the thread that drives the profile. What a call throws comes out of the profile's call, which is completed first.
class ExecutionObserver {
 public:
  virtual ~ExecutionObserver() = default;
  virtual void start() = 0;    // once a trace, before its first event
  virtual void stop() = 0;     // once a trace, after its last event
  virtual void cleanup() = 0;  // when the profile is closed or destroyed
};

}  // namespace mindtorch::profiler
