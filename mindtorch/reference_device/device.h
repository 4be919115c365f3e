// The driver API of the reference NPU: devices, memory, streams, events, copies, launches, clock. It stands in for libascendcl. Calls may
// be made from any thread. A kernel may only make launches, copies and memsets on other streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "mindtorch/base/export.h"
#include "mindtorch/reference_device/config.h"
#include "mindtorch/reference_device/result.h"

namespace mindtorch::reference_device {

class Stream;  // owned by the driver; lives until destroy_stream() or power_off()
class Event;   // owned by the program; lives until destroy_event()

// --- power -----------------------------------------------------------------------------------------------------------------------------

// Powers the devices on. kNotPermitted if they are on, kInvalidArgument if the configuration is not valid.
MINDTORCH_EXPORT Result power_on(const Config& config = {}) noexcept;
// Finishes all queued work, delivers the remaining activity records, and removes the devices with their streams and memory. No other call
// may run at the same time. When the process exits, the devices stop and drop queued work.
MINDTORCH_EXPORT Result power_off() noexcept;
// kSuccess if there are devices, else the reason why not: kPoweredOff, or kForked in a child process, which cannot use them.
MINDTORCH_EXPORT Result power_state() noexcept;
// The number of devices; 0 while they are off. The first call powers on the default configuration if MINDTORCH_NPU=reference is set.
MINDTORCH_EXPORT int device_count() noexcept;

// --- memory ----------------------------------------------------------------------------------------------------------------------------

// Device addresses lie in a window that the host can neither read nor write. They are aligned to 512 bytes. Zero bytes give a null address.
MINDTORCH_EXPORT Result allocate(int device, std::size_t bytes, void** address) noexcept;
// Waits until the device is idle, because queued work may still use the memory.
MINDTORCH_EXPORT Result release(void* address) noexcept;
MINDTORCH_EXPORT Result memory_info(int device, std::size_t* free_bytes, std::size_t* total_bytes) noexcept;
// The device that `address` belongs to, -1 for a host address.
MINDTORCH_EXPORT int device_of(const void* address) noexcept;

// --- streams ---------------------------------------------------------------------------------------------------------------------------

// Work on one stream runs in order, on the worker thread of the stream. Streams run in parallel.
MINDTORCH_EXPORT Result create_stream(int device, Stream** stream) noexcept;
// Finishes queued work first. The default stream cannot be destroyed.
MINDTORCH_EXPORT Result destroy_stream(Stream* stream) noexcept;
MINDTORCH_EXPORT Result default_stream(int device, Stream** stream) noexcept;
MINDTORCH_EXPORT int stream_id(const Stream* stream) noexcept;  // >= 1; 1 is the default stream; unique on its device
MINDTORCH_EXPORT int stream_device(const Stream* stream) noexcept;
// kSuccess if nothing is queued or running, else kNotReady or the error of the stream.
MINDTORCH_EXPORT Result query(Stream* stream) noexcept;
// Waits for work that was queued before the call. Returns the error of the stream, if it has one.
MINDTORCH_EXPORT Result synchronize(Stream* stream) noexcept;
MINDTORCH_EXPORT Result synchronize_device(int device) noexcept;

// After a failure, a stream skips queued work and refuses new work. This call waits until it is idle and makes it usable again.
MINDTORCH_EXPORT Result clear_error(Stream* stream) noexcept;
// What failed and why; empty if nothing failed.
MINDTORCH_EXPORT std::string error_text(const Stream* stream);

// --- work ------------------------------------------------------------------------------------------------------------------------------

// Translates device addresses into addresses that the running kernel can access.
class MINDTORCH_EXPORT DeviceView {
 public:
  // Throws InvalidArgument if the address is not this device's, which fails the kernel. A null address stays null.
  void* at(const void* address) const;
  template <class T>
  T* at(T* address) const {
    return static_cast<T*>(at(static_cast<const void*>(address)));
  }
  int device() const noexcept { return device_; }

 private:
  friend class DeviceMemory;
  const std::byte* window_ = nullptr;
  std::byte* backing_ = nullptr;
  std::size_t size_ = 0;
  int device_ = 0;
};

// An exception fails the stream; its text becomes error_text(). Destroyed on the worker as soon as it has run.
using Kernel = std::function<void(const DeviceView&)>;

enum class CopyKind : std::uint8_t { kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3 };

// `correlation`, where given, receives the number that the launch and its kernel have in the activity records.
MINDTORCH_EXPORT Result launch(Stream* stream, std::string_view name, Kernel kernel, std::uint64_t* correlation = nullptr) noexcept;
// Host memory must stay unchanged until the copy has run. Ranges are checked before the call returns.
MINDTORCH_EXPORT Result copy_async(void* to, const void* from, std::size_t bytes, CopyKind kind, Stream* stream) noexcept;
MINDTORCH_EXPORT Result set_async(void* to, int value, std::size_t bytes, Stream* stream) noexcept;
// Queues host code, which runs even after a failure of the stream. It is not an activity of the device.
MINDTORCH_EXPORT Result call_host(Stream* stream, std::function<void()> function) noexcept;

// --- events ----------------------------------------------------------------------------------------------------------------------------

MINDTORCH_EXPORT Result create_event(Event** event) noexcept;
MINDTORCH_EXPORT Result destroy_event(Event* event) noexcept;  // also while recorded or waited for
// The event is reached when the stream has executed all work queued before this call. Recording again replaces the earlier position.
MINDTORCH_EXPORT Result record_event(Event* event, Stream* stream) noexcept;
// Makes the stream wait for the last recorded position of the event. Does nothing if the event was never recorded.
MINDTORCH_EXPORT Result wait_event(Stream* stream, Event* event) noexcept;
MINDTORCH_EXPORT Result query(Event* event) noexcept;  // kSuccess if reached or never recorded
MINDTORCH_EXPORT Result synchronize(Event* event) noexcept;
// Device time between two reached events of one device, in milliseconds; kNotReady before that.
MINDTORCH_EXPORT Result elapsed(double* milliseconds, Event* start, Event* end) noexcept;

// --- clock -----------------------------------------------------------------------------------------------------------------------------

// Reads the clock of the device. It takes no lock and does not wait, so that host reads before and after it are close together.
MINDTORCH_EXPORT Result read_clock(int device, std::uint64_t* ticks) noexcept;
MINDTORCH_EXPORT Result clock_rate(int device, double* nominal_ticks_per_ns) noexcept;

}  // namespace mindtorch::reference_device
