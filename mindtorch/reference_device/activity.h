// The activity API of the reference NPU: what was called, launched, copied and waited for. It stands in for libmspti and libcupti: it has
// one subscriber, and delivers records in the subscriber's buffers, late, in batches, out of order, on a thread of the library. Losses are
// counted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "mindtorch/reference_device/device.h"

namespace mindtorch::reference_device {

// Bits, so that a set of kinds can be changed atomically.
enum ActivityKind : std::uint32_t {
  kApiActivity = 1u << 0,     // a call of device.h that a program made
  kKernelActivity = 1u << 1,  // a kernel on a stream
  kMemcpyActivity = 1u << 2,
  kMemsetActivity = 1u << 3,
  kWaitActivity = 1u << 4,  // a stream waiting for an event
};
inline constexpr std::uint32_t kAllActivities = 31;

// Every record begins like this. Records lie one after the other, each aligned to 8 bytes.
struct Activity {
  ActivityKind kind;
  std::uint32_t bytes;  // of the whole record
};

struct ApiActivity : Activity {
  const char* name;     // "npuLaunchKernel", ...; a static string
  std::uint64_t start;  // the subscriber's host clock
  std::uint64_t end;
  std::uint64_t correlation;  // the same as on the device record that this call caused; 0 if it caused no work
  std::uint32_t thread_id;    // of the operating system
  Result result;
};

// The common part of all records of a device. Both times are ticks of that device's clock.
struct DeviceActivity : Activity {
  std::uint32_t device;
  std::uint32_t stream;
  std::uint64_t start;
  std::uint64_t end;
  std::uint64_t correlation;
};
struct KernelActivity : DeviceActivity {
  const char* name;  // is never freed
};
struct MemcpyActivity : DeviceActivity {
  std::uint64_t size;
  CopyKind direction;
};
struct MemsetActivity : DeviceActivity {
  std::uint64_t size;
  std::int64_t value;
};
struct WaitActivity : DeviceActivity {};

// The callbacks run on the library's thread, one at a time, and may call only read_clock() of this library. All are required except
// `host_now`, which every thread that calls device.h may call; null means CLOCK_MONOTONIC nanoseconds.
struct Subscriber {
  void (*request)(void* user, std::uint8_t** buffer, std::size_t* bytes) = nullptr;  // null buffer: records are dropped and counted
  // Called when the buffer is full and on flush().
  void (*complete)(void* user, std::uint8_t* buffer, std::size_t bytes, std::size_t valid) = nullptr;
  std::uint64_t (*host_now)(void* user) = nullptr;
  void* user = nullptr;
};

Result subscribe(const Subscriber& subscriber) noexcept;
// Stops collecting. Records of work still in flight are lost; call synchronize_device() and flush() before.
Result unsubscribe() noexcept;
// Sets the kinds to collect from now on, 0 for none. A call and the work it queues belong to the set at the beginning of the call. When
// this returns, every call that began under the old set has ended, except calls that wait for the device: these get no record.
Result collect(std::uint32_t kinds) noexcept;
// Delivers every record that exists. Does not wait for running work.
Result flush() noexcept;
// Records lost since the last call.
Result take_dropped(std::uint64_t* count) noexcept;

// The record after `previous` (null: the first), or null at the end.
const Activity* next_record(const std::uint8_t* buffer, std::size_t valid, const Activity* previous) noexcept;

}  // namespace mindtorch::reference_device
