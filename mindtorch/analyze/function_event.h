// FunctionEvent: one event with the fields of torch's FunctionEvent, each computed when asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/average.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/inputs.h"

namespace mindtorch::analyze {

// Bytes allocated on the device of an event when it started and when it ended.
struct MemorySpan {
  trace::Device device;
  std::int64_t before = 0;
  std::int64_t after = 0;
  std::int64_t delta() const { return after - before; }
};

// Device work launched by an event.
struct Kernel {
  std::string_view name;
  int device = 0;
  std::int64_t duration_ns = 0;
};

// A handle of two words: copy it. The analysis must outlive it. Times without "us" are nanoseconds; "us" ones count from the start of the
// recording.
class MINDTORCH_EXPORT FunctionEvent {
 public:
  FunctionEvent(const Analysis& analysis, std::uint32_t item) : analysis_(&analysis), item_(item) {}

  // Index into Recording::events; kNoEvent for a memory report outside of any event ("[memory]").
  EventIndex index() const;
  std::int64_t id() const;              // unique in the process, see Recording::first_id
  std::string_view name() const;        // "ProfilerStep*"
  std::string_view trace_name() const;  // "ProfilerStep#3"
  std::string_view overload_name() const;
  trace::EventKind kind() const;
  std::string_view kind_name() const;  // "op", "scope", "kernel", "memcpy", ...

  std::int64_t start_ns() const;  // on the recording's timeline
  std::int64_t end_ns() const;
  std::int64_t duration_ns() const { return end_ns() - start_ns(); }
  double start_us() const;
  double end_us() const;
  std::int64_t step() const;

  std::uint32_t thread() const;      // small number, 1 is the first thread; 0 on a device
  std::int64_t thread_id() const;    // the OS's, or the stream's
  std::uint32_t fwd_thread() const;  // 0 = none
  std::int64_t sequence_nr() const;  // -1 = none
  int scope() const;
  bool is_async() const;
  bool is_user_annotation() const;

  trace::DeviceType device_type() const;           // on whose timeline
  trace::Device device() const;                    // of the timeline; CPU 0 for host events
  std::optional<trace::Device> op_device() const;  // where the op's tensors live, if the host knows; of a device activity its device
  std::int64_t device_resource_id() const;         // stream of a device activity, else thread()

  std::int64_t cpu_time_total_ns() const;
  std::int64_t self_cpu_time_total_ns() const;
  std::int64_t device_time_total_ns() const;
  std::int64_t self_device_time_total_ns() const;
  MemoryDelta memory_usage() const;
  MemoryDelta self_memory_usage() const;
  std::optional<MemorySpan> memory_span() const;  // unset if memory was not recorded or for a device activity
  std::int64_t flops() const;

  std::optional<FunctionEvent> cpu_parent() const;
  std::vector<FunctionEvent> cpu_children() const;
  std::vector<Kernel> kernels() const;

  Shapes shapes() const;                     // torch's input_shapes
  std::vector<trace::Input> inputs() const;  // everything that was recorded of the arguments
  std::vector<std::string> stack() const;    // "file:line:function", innermost first

  // The event as a row of a table: count 1.
  Average as_row() const;

  friend bool operator==(const FunctionEvent&, const FunctionEvent&) = default;

 private:
  const trace::Recording& recording() const { return analysis_->recording(); }
  bool is_memory_report() const { return item_ >= recording().events.size(); }
  std::size_t report() const { return item_ - recording().events.size(); }
  const trace::Track& track() const;
  bool is_node() const;

  const Analysis* analysis_;
  std::uint32_t item_;  // an EventIndex, or the number of events plus a memory report's index
};

// torch's number of the scope an event was recorded in.
MINDTORCH_EXPORT int record_scope(trace::EventKind kind);
constexpr bool is_annotation(trace::EventKind kind) { return trace::is_user_kind(kind) || kind == trace::EventKind::kDeviceScope; }

}  // namespace mindtorch::analyze
