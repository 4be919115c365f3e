// The names in a Chrome trace that its writer and its reader share: categories, arguments of events, keys of the header.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::trace::chrome_format {

// A JSON key that is known at compile time. It can be a template argument, so that a writer can build `,"key":` once, at compile time.
template <std::size_t N>
struct Key {
  char text[N]{};
  consteval Key(const char (&literal)[N]) { std::copy_n(literal, N, text); }  // NOLINT(google-explicit-constructor)
  constexpr std::string_view view() const { return {text, N - 1}; }
  constexpr operator std::string_view() const { return view(); }  // NOLINT(google-explicit-constructor)
};

// --- Events ---

inline constexpr std::string_view kModulePrefix = "nn.Module: ";
inline constexpr std::string_view kBackwardPrefix = "autograd::engine::evaluate_function: ";
inline constexpr std::string_view kMemoryName = "[memory]";
inline constexpr std::string_view kWindowStart = "Iteration Start: PyTorch Profiler";
inline constexpr std::string_view kWindowEnd = "Record Window End";
inline constexpr std::string_view kSpanCategory = "Trace";  // of the one event that spans the whole trace
inline constexpr std::string_view kRowName = "thread_name";
// Events of phase P: a profile of a thread, as Chrome writes it.
inline constexpr std::string_view kProfileCategory = "disabled-by-default-v8.cpu_profiler";
inline constexpr std::string_view kProfileStart = "Profile";
inline constexpr std::string_view kProfilePart = "ProfileChunk";
inline constexpr std::string_view kNoUnit = "value";  // the argument of a counter whose unit is not known; else it is the unit

// The category of a kind of event, given the device it belongs to (runtime calls are named after their vendor).
MINDTORCH_EXPORT std::string_view category(EventKind kind, DeviceType device);

struct CategoryMeaning {
  EventKind kind = EventKind::kOp;
  DeviceType device = DeviceType::kCpu;
};
// Returns the meaning of a category unless the arguments are more precise, or no value if the category is not one of torch's.
MINDTORCH_EXPORT std::optional<CategoryMeaning> meaning_of_category(std::string_view category);

// Returns the kind that a reader infers from the category of `kind`.
constexpr EventKind kind_seen_by_readers(EventKind kind) {
  switch (kind) {
    case EventKind::kBackward: return EventKind::kOp;
    case EventKind::kStep: return EventKind::kScope;
    case EventKind::kModule: return EventKind::kPythonFunction;
    case EventKind::kCollective: return EventKind::kKernel;
    default: return kind;
  }
}

// The kind of an event once its name and link are known in addition to its category: a step, a module call, or the evaluation of an
// autograd node. Where this is wrong, the writer adds the argument kKind.
MINDTORCH_EXPORT EventKind implied_kind(EventKind of_category, std::string_view name, std::uint64_t link);

// --- Arguments of events ("args") ---

// The attribute that says which overload of an op was called. The name in the trace has it too: "aten::add.Tensor".
inline constexpr std::string_view kOverloadName = "overload_name";

// The metadata of a recording whose trace has a whole stack with each event, under torch's name (kCallStack) and in torch's form.
inline constexpr std::string_view kWholeStacks = "mindtorch.whole_stacks";

// The beginning of a text that stands for a whole stack, followed by its number: the same stack as in that place.
inline constexpr std::string_view kStackReference = "same as stack id ";

namespace argument {
inline constexpr Key kAddress = "Addr";
inline constexpr Key kAsync = "async";
inline constexpr Key kBytes = "Bytes";
inline constexpr Key kCallStack = "Call stack";  // torch's; ours is kStack, unless kWholeStacks is set
inline constexpr Key kConcreteInputs = "Concrete Inputs";
inline constexpr Key kCorrelation = "correlation";
inline constexpr Key kDerived = "derived from stacks";  // of a Python function that was not recorded
inline constexpr Key kDevice = "device";
inline constexpr Key kDeviceId = "Device Id";
inline constexpr Key kDeviceType = "Device Type";
inline constexpr Key kDeviceTypeName = "device_type";
inline constexpr Key kEventIndex = "Ev Idx";
inline constexpr Key kExternalId = "External id";
inline constexpr Key kFinished = "finished";
inline constexpr Key kForwardThread = "Fwd thread id";
inline constexpr Key kInputDims = "Input Dims";
inline constexpr Key kInputShapes = "input_shapes";
inline constexpr Key kInputStrides = "Input Strides";
inline constexpr Key kInputTypes = "Input type";
inline constexpr Key kKind = "Kind";
inline constexpr Key kMemoryBandwidth = "memory bandwidth (GB/s)";  // of copies and memsets
inline constexpr Key kPythonId = "Python id";
inline constexpr Key kPythonModuleId = "Python module id";  // the number in the name of a module
inline constexpr Key kPythonParentId = "Python parent id";
inline constexpr Key kRecordFunctionId = "Record function id";
inline constexpr Key kSequence = "Sequence number";
inline constexpr Key kStack = "stack";       // the first event with a stack has its frames, the others refer to its number
inline constexpr Key kStackId = "stack id";  // the number
inline constexpr Key kStream = "stream";
inline constexpr Key kTotalAllocated = "Total Allocated";
inline constexpr Key kTotalReserved = "Total Reserved";

// Memory in use on a device before and after an event, and the difference.
struct MemoryKeys {
  std::string_view before, after, delta;
};
inline constexpr MemoryKeys kCpuMemory{"cpu_memory_allocated_before", "cpu_memory_allocated_after", "cpu_memory_allocated_delta"};
inline constexpr MemoryKeys kCudaMemory{"cuda_memory_allocated_before", "cuda_memory_allocated_after", "cuda_memory_allocated_delta"};
inline constexpr MemoryKeys kNpuMemory{"npu_memory_allocated_before", "npu_memory_allocated_after", "npu_memory_allocated_delta"};
constexpr const MemoryKeys& memory_keys(DeviceType type) {
  return type == DeviceType::kNpu ? kNpuMemory : type == DeviceType::kCuda ? kCudaMemory : kCpuMemory;
}
}  // namespace argument

// True for arguments that the writer makes from columns and tables of such an event. An attribute of the same name is left out, so that no
// key stands twice.
MINDTORCH_EXPORT bool is_own_argument(std::string_view key, EventKind kind);

// --- Header ---

namespace header {
inline constexpr std::string_view kSchemaVersion = "schemaVersion";
inline constexpr std::string_view kDeviceProperties = "deviceProperties";
inline constexpr std::string_view kTraceId = "trace_id";
inline constexpr std::string_view kDisplayTimeUnit = "displayTimeUnit";
inline constexpr std::string_view kBaseTime = "baseTimeNanoseconds";
inline constexpr std::string_view kEvents = "traceEvents";
inline constexpr std::string_view kTraceName = "traceName";
inline constexpr std::string_view kWithStack = "with_stack";
inline constexpr std::string_view kProfileMemory = "profile_memory";
inline constexpr std::string_view kWithFlops = "with_flops";
inline constexpr std::string_view kWithModules = "with_modules";
inline constexpr std::string_view kRecordShapes = "record_shapes";
// The prefix of metadata whose name is a reserved key.
inline constexpr std::string_view kMetadataPrefix = "metadata.";
// The object for data that torch's schema does not provide for. Its keys are in `own`.
inline constexpr std::string_view kOwn = "mindtorch";

// Keys of the entries of kDeviceProperties. All other keys there are those of trace::DeviceProperty.
namespace device {
inline constexpr std::string_view kId = "id";
inline constexpr std::string_view kName = "name";
}  // namespace device
}  // namespace header

namespace own {
inline constexpr std::int64_t kCurrentVersion = 1;
inline constexpr std::string_view kVersion = "version";
inline constexpr std::string_view kTimelineZero = "timeline_zero_unix_ns";
inline constexpr std::string_view kWindow = "window_ns";  // [start, end]
inline constexpr std::string_view kDevicesKnown = "devices_known";
inline constexpr std::string_view kActivities = "activities";     // [DeviceType]
inline constexpr std::string_view kDeviceTypes = "device_types";  // [DeviceType] of the entries of header::kDeviceProperties
inline constexpr std::string_view kLosses = "losses";             // as trace::loss_json() writes them
inline constexpr std::string_view kClocks = "clocks";
inline constexpr std::string_view kRows = "rows";
inline constexpr std::string_view kSteps = "steps";                       // [[time, step]]
inline constexpr std::string_view kMemoryBaselines = "memory_baselines";  // [[DeviceType, index, allocated, reserved]]
inline constexpr std::string_view kMemoryTags = "memory_tags";            // [[time, address, MemoryCategory]]

namespace clock {
inline constexpr std::string_view kName = "name";
inline constexpr std::string_view kTicksPerSecond = "ticks_per_second";
inline constexpr std::string_view kErrorBound = "error_bound_ns";
inline constexpr std::string_view kSamples = "samples";
}  // namespace clock

// The row a track is drawn in (pid, tid, lane), and the identity of the track.
namespace row {
inline constexpr std::string_view kPid = "pid";
inline constexpr std::string_view kTid = "tid";
inline constexpr std::string_view kLane = "lane";
inline constexpr std::string_view kProcess = "process";
inline constexpr std::string_view kId = "id";
inline constexpr std::string_view kNumber = "number";
inline constexpr std::string_view kIsStream = "stream";
inline constexpr std::string_view kDeviceType = "device_type";
inline constexpr std::string_view kDevice = "device";
inline constexpr std::string_view kName = "name";
}  // namespace row
}  // namespace own

// True for keys of the top level that metadata of the same name would break.
MINDTORCH_EXPORT bool is_reserved_key(std::string_view key);

}  // namespace mindtorch::trace::chrome_format
