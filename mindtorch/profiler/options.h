// ProfileOptions: the arguments of torch.profiler.profile, with torch's names and defaults.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mindtorch/profiler/activity.h"
#include "mindtorch/profiler/activity_filter.h"
#include "mindtorch/profiler/observer.h"
#include "mindtorch/profiler/schedule.h"
#include "mindtorch/record/clock.h"
#include "mindtorch/record/session.h"

namespace mindtorch::profiler {

class Profile;

using TraceReadyCallback = std::function<void(Profile&)>;
using TraceIdCallback = std::function<std::string()>;

// torch's _ExperimentalConfig, and options that torch does not have.
struct ExperimentalConfig {
  // If false, only the thread that starts the trace and the threads that it hands work to are recorded, as torch does by default.
  bool profile_all_threads = true;
  // How much memory events may take, and what happens when they need more: grow, keep the last steps, or spill to a file.
  record::Budget budget;
  // The trace is only exported: events() and key_averages() are refused. Switched off, with a warning, by with_stack.
  bool trace_only = false;

  // Records which overload of an op was called, if the host knows it.
  bool capture_overload_names = false;

  // Steps that begin in one recorded Python call and end in the next begin with the latter, as in torch. No effect on spilled events.
  bool adjust_profiler_step = false;

  // Records waits of the host and of streams on a device as events, as torch does. Devices that report them anyway always have them.
  bool enable_cuda_sync_events = false;
  // Replays of CUDA graphs: an event for each kernel, or one for each replay at almost no cost.
  bool whole_cuda_graphs = false;
  // What devices record besides their work: environment counters, CUDA events, sampled hardware counters.
  record::DeviceExtras device_extras;
  // Records the ranges and marks that programs and libraries report with NVTX.
  bool enable_nvtx = false;
  // How often a sampler looks at all threads of Python; 0: never.
  std::chrono::nanoseconds sampling_interval{0};
  // How long stopping may wait for work that is still running on a device.
  std::chrono::milliseconds device_stop_deadline{10'000};

  // Each event of a Chrome trace has its whole stack as "Call stack"; otherwise a stack is written once and referred to.
  bool verbose = false;
  bool expose_kineto_event_metadata = false;  // accepted, without effect: the attributes of an event can always be read

  // torch's counters per kernel are not recorded: a profile that asks for them warns. device_extras.metrics samples counters over time.
  std::vector<std::string> profiler_metrics;
  std::vector<std::string> performance_events;
};

struct ProfileOptions {
  Activities activities;                         // not said: supported_activities()
  std::vector<ActivityFilter> activity_filters;  // of some of them only these kinds of events
  Schedule schedule;                             // none: every step is recorded, and there are no "ProfilerStep#N" scopes
  TraceReadyCallback on_trace_ready;             // called when a cycle has been recorded, and by stop() while recording
  bool record_shapes = false;                    // arguments of ops: sizes, strides, types, scalars
  bool profile_memory = false;                   // allocations and frees
  bool with_stack = false;                       // call stacks of ops and scopes
  bool with_flops = false;                       // needs shapes, so they are recorded too
  bool with_modules = false;                     // calls of modules
  ExperimentalConfig experimental_config;
  std::shared_ptr<ExecutionObserver> execution_trace_observer;
  bool acc_events = false;                   // events() and key_averages() are about all cycles, not only the last
  TraceIdCallback custom_trace_id_callback;  // called once per cycle; if empty, ids are random UUIDs
  // Must not be negative. Only 0 has an effect, in Python: events() is empty then. Nothing is parsed, so any other time is enough.
  std::optional<double> post_processing_timeout_s;
  record::Clock* clock = nullptr;  // not owned, must outlive the last scope opened while recording; null: the system's
};

}  // namespace mindtorch::profiler
