// The vocabulary of a recording: kinds of events, devices and tracks, and the data that events can have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/base/export.h"

namespace mindtorch::trace {

using NameId = std::uint32_t;      // index into a name table; 0 is the empty name
using TrackId = std::uint32_t;     // index into Recording::tracks
using EventIndex = std::uint32_t;  // index into Recording::events

// Numbers are those of c10::DeviceType, so that files and tools agree with torch. kNpu is torch's PrivateUse1.
enum class DeviceType : std::uint8_t { kCpu = 0, kCuda = 1, kNpu = 20 };

struct Device {
  DeviceType type = DeviceType::kCpu;
  std::uint8_t index = 0;
  friend bool operator==(Device, Device) = default;
  friend auto operator<=>(Device, Device) = default;
};

MINDTORCH_EXPORT std::string_view device_type_name(DeviceType type);  // "CPU", "CUDA", "NPU"

// Values are written to files: append, never renumber.
enum class EventKind : std::uint8_t {
  kOp = 0,              // an operator call on the host (aten::mul)
  kBackward = 1,        // evaluation of an autograd node (MulBackward0)
  kScope = 2,           // a user's scope (record_function) or an annotation of the host (Optimizer.step#SGD.step)
  kStep = 3,            // a step of the profiled loop; link = its number
  kModule = 4,          // a call of an nn.Module
  kPythonFunction = 5,  // a Python frame
  kRuntime = 6,         // a device runtime call on the host (cudaLaunchKernel); link = correlation
  kDriver = 7,          // a device driver call on the host; link = correlation
  kKernel = 8,          // device timeline; link = correlation
  kMemcpy = 9,          // device timeline; link = correlation
  kMemset = 10,         // device timeline; link = correlation
  kSync = 11,           // device timeline: a wait
  kCollective = 12,     // device timeline: a collective operation
  kDeviceScope = 13,    // device timeline: the span of a user's scope
  kInstant = 14,        // a moment on the host, no duration
  kOverhead = 15,       // time the profiler itself took
};
inline constexpr int kEventKinds = 16;

constexpr bool is_device_kind(EventKind kind) { return kind >= EventKind::kKernel && kind <= EventKind::kDeviceScope; }
constexpr bool is_launch_kind(EventKind kind) { return kind == EventKind::kRuntime || kind == EventKind::kDriver; }
constexpr bool is_user_kind(EventKind kind) { return kind == EventKind::kScope || kind == EventKind::kStep; }

// Bits of an event's flags.
enum EventFlag : std::uint8_t {
  kUnfinished = 1,   // still open when the recording stopped; its end is the stop
  kAsync = 2,        // closed on another thread than it was opened on
  kKnownDevice = 4,  // the host said where the op's tensors live (Device is then meaningful)
  kTraceOnly = 8,    // shown in traces and in trees of raw events, but not among the events that were asked for
  kScripted = 16,    // a function of TorchScript, not an operator
};

// Every event has one word for linking, whose meaning depends on the kind. Launches and device activities: correlation id, the same on both
// ends. Steps: their number. Other kinds: autograd sequence number and forward thread. 0 = none. A link has room for
// sequence numbers below 2^40 - 1.
constexpr bool has_correlation(EventKind kind) { return is_launch_kind(kind) || is_device_kind(kind); }
constexpr bool has_sequence(EventKind kind) { return !has_correlation(kind) && kind != EventKind::kStep; }
constexpr std::uint64_t make_step_link(std::int64_t step) { return static_cast<std::uint64_t>(step) + 1; }
constexpr std::int64_t step_of(std::uint64_t link) { return static_cast<std::int64_t>(link - 1); }  // -1 = none
constexpr std::uint64_t make_sequence_link(std::int64_t sequence, std::uint32_t forward_thread = 0) {
  return ((static_cast<std::uint64_t>(sequence) + 1) << 24) | (forward_thread & 0xFFFFFF);
}
constexpr std::int64_t sequence_of(std::uint64_t link) { return static_cast<std::int64_t>(link >> 24) - 1; }  // -1 = none
constexpr std::uint32_t forward_thread_of(std::uint64_t link) { return link & 0xFFFFFF; }                     // 0 = none

enum class ScalarType : std::uint8_t {
  kUint8 = 0,
  kInt8 = 1,
  kInt16 = 2,
  kInt32 = 3,
  kInt64 = 4,
  kHalf = 5,
  kFloat = 6,
  kDouble = 7,
  kBool = 11,
  kBFloat16 = 15,
  kOther = 63,
};
MINDTORCH_EXPORT std::string_view scalar_type_name(
    ScalarType type);  // C++ names as torch writes them: "float", "long int", "c10::Half"; kOther ""

// One argument of an op call, decoded.
struct Input {
  enum class Kind : std::uint8_t {
    kNone = 0,
    kTensor = 1,
    kTensorList = 2,
    kInt = 3,
    kDouble = 4,
    kBool = 5,
    kText = 6,
    kIntList = 7,
    kOther = 8,
    kDoubleList = 9,
    kBoolList = 10
  };
  Kind kind = Kind::kNone;
  ScalarType dtype = ScalarType::kOther;  // kTensor
  std::vector<std::int64_t> sizes;        // kTensor; kIntList, kBoolList: the values
  std::vector<std::int64_t> strides;      // kTensor
  std::vector<Input> list;                // kTensorList
  std::int64_t integer = 0;               // kInt, kBool
  double real = 0;                        // kDouble
  std::vector<double> reals;              // kDoubleList
  NameId text = 0;                        // kText
  friend bool operator==(const Input&, const Input&) = default;
};

// A key and a value of an event (kernel grid, bytes of a copy, keyword arguments of a scope).
struct Attribute {
  enum class Type : std::uint8_t { kInt = 0, kDouble = 1, kText = 2, kJson = 3, kBool = 4 };
  NameId key = 0;
  Type type = Type::kInt;
  std::int64_t bits = 0;  // the integer, the bits of the double, or the NameId of the text
  friend bool operator==(const Attribute&, const Attribute&) = default;
};

// True if `bits` is the id of a text.
constexpr bool has_text(const Attribute& attribute) {
  return attribute.type == Attribute::Type::kText || attribute.type == Attribute::Type::kJson;
}
// Replaces the ids of the key and of a text: name_id(id) returns the new one.
template <class NewId>
void map_names(Attribute& attribute, NewId&& name_id) {
  attribute.key = name_id(attribute.key);
  if (has_text(attribute)) attribute.bits = name_id(static_cast<NameId>(attribute.bits));
}

// A place in source code.
struct Frame {
  NameId file = 0;
  NameId function = 0;
  std::int32_t line = 0;
  friend bool operator==(const Frame&, const Frame&) = default;
};

// A row of the timeline: a host thread or a device stream. Its events are contiguous in Recording::events and in start order.
struct Track {
  enum class Kind : std::uint8_t { kThread = 0, kStream = 1 };
  Kind kind = Kind::kThread;
  Device device;  // kStream: the device
  std::int64_t pid = 0;
  std::int64_t id = 0;       // OS thread id, or stream id
  std::uint32_t number = 0;  // kThread: small number, 1 for the first thread recorded in the process; forward_thread_of() refers to it
  std::string name;
  EventIndex first_event = 0;
  EventIndex event_count = 0;
  friend bool operator==(const Track&, const Track&) = default;
};

// One number that a device's driver reports, under torch's key ("totalGlobalMem", "computeMajor", ...).
struct DeviceProperty {
  std::string key;
  std::int64_t value = 0;
  friend bool operator==(const DeviceProperty&, const DeviceProperty&) = default;
};

// A device that could have been used while the recording was made.
struct DeviceProperties {
  Device device;
  std::string name;
  std::vector<DeviceProperty> numbers;
  friend bool operator==(const DeviceProperties&, const DeviceProperties&) = default;
};

// The purpose of a block of memory. Order and numbers are those of torch's memory timeline files.
enum class MemoryCategory : std::uint8_t {
  kParameter = 0,
  kOptimizerState = 1,
  kInput = 2,
  kTemporary = 3,
  kActivation = 4,
  kGradient = 5,
  kAutogradDetail = 6,
  kUnknown = 7,
};
inline constexpr int kMemoryCategories = 8;
MINDTORCH_EXPORT std::string_view memory_category_name(MemoryCategory category);  // "PARAMETER", ...

// What a thread did when a sampler looked at it. Values are written to files: append, never renumber.
enum class ThreadState : std::uint8_t {
  kUnknown = 0,
  kRunning = 1,          // it ran on a processor, or could have
  kWaitsForGil = 2,      // another thread held the lock of the interpreter
  kWaitsForLock = 3,     // any other lock, condition, queue or thread
  kWaitsForIo = 4,       // a file, a socket, a pipe, a child process
  kSleeps = 5,           // it asked to be woken up later
  kCollectsGarbage = 6,  // the cyclic collector of Python ran on it
  kNotScheduled = 7,     // it was ready to run, and the processors were busy with others
};
inline constexpr int kThreadStates = 8;
MINDTORCH_EXPORT std::string_view thread_state_name(ThreadState state);  // "running", "waits_for_gil", ...

// Why events are missing.
enum class LossReason : std::uint8_t {
  kBudget = 0,          // refused: the byte budget of the session was used up
  kOverwritten = 1,     // keep_last: older than what was asked to be kept
  kUnfinished = 2,      // still open at stop (the event is there, its end is not its own)
  kDeviceDropped = 3,   // the device's collector dropped it
  kNoDeviceRecord = 4,  // a launch whose device record never came
  kNoLaunch = 5,        // a device record whose launch was not seen
  kSideData = 6,        // the event is there, its shapes, stack or attributes did not fit
  kSpillFailed = 7,     // the spill file could not be written
  kDamagedFile = 8,     // a file ended early or failed its checksum
  kThreadExit = 9,      // refused: the thread was past the end of its log's life
};
inline constexpr int kLossReasons = 10;
MINDTORCH_EXPORT std::string_view loss_reason_name(LossReason reason);  // "budget", "overwritten", ...

struct Loss {
  LossReason reason = LossReason::kBudget;
  std::uint64_t count = 0;
  std::string where;   // thread, device or file
  std::string detail;  // a sentence for the user, may be empty
  friend bool operator==(const Loss&, const Loss&) = default;
};

}  // namespace mindtorch::trace
