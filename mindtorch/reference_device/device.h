// The reference NPU's driver as programs see it: devices, memory, streams, events, copies, launches, clock. It plays libascendcl where
// there is no Ascend. Calls may be made from any thread; from inside a kernel only launches, copies and memsets on other streams.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "mindtorch/reference_device/config.h"
#include "mindtorch/reference_device/result.h"

namespace mindtorch::reference_device {

class Stream;  // owned by the driver; lives until destroy_stream() or power_off()
class Event;   // owned by the program; lives until destroy_event()

// --- power -----------------------------------------------------------------------------------------------------------------------------

// Plugs the devices in. kNotPermitted if they are already in, kInvalidArgument if the configuration makes no sense.
Result power_on(const Config& config = {}) noexcept;
// Finishes all queued work, delivers what the activity subscriber has coming, and takes the devices away with their streams and memory.
// No other call may run at the same time. At exit of the process the devices stop by themselves and drop what is still queued.
Result power_off() noexcept;
// Why there are no devices: kPoweredOff, or kForked in a child process, which must do without; kSuccess if there are some.
Result power_state() noexcept;
// Number of devices. The first call powers on the default configuration if the environment says MINDTORCH_NPU=reference; else 0 while off.
int device_count() noexcept;

// --- memory ----------------------------------------------------------------------------------------------------------------------------

// Device addresses lie in a window that the host can neither read nor write. Aligned to 512 bytes. Zero bytes give a null address.
Result allocate(int device, std::size_t bytes, void** address) noexcept;
// Waits until the device is idle, as no queued work may use the memory any more.
Result release(void* address) noexcept;
Result memory_info(int device, std::size_t* free_bytes, std::size_t* total_bytes) noexcept;
// The device that `address` belongs to, -1 for a host address.
int device_of(const void* address) noexcept;

// --- streams ---------------------------------------------------------------------------------------------------------------------------

// Work on one stream runs in order, on the stream's own worker; streams run side by side.
Result create_stream(int device, Stream** stream) noexcept;
// Finishes what is queued first. The default stream cannot be destroyed.
Result destroy_stream(Stream* stream) noexcept;
Result default_stream(int device, Stream** stream) noexcept;
int stream_id(const Stream* stream) noexcept;  // >= 1; 1 is the default stream; unique on its device
int stream_device(const Stream* stream) noexcept;
// kSuccess if nothing is queued or running, else kNotReady, or the stream's error.
Result query(Stream* stream) noexcept;
// Waits for what was queued before the call. Answers the stream's error, if it has one.
Result synchronize(Stream* stream) noexcept;
Result synchronize_device(int device) noexcept;

// After work failed, the stream skips what is queued and refuses new work. Waits for it to be idle, then makes it usable again.
Result clear_error(Stream* stream) noexcept;
// What failed and why; empty if nothing did.
std::string error_text(const Stream* stream);

// --- work ------------------------------------------------------------------------------------------------------------------------------

// Turns device addresses into ones that the running kernel can touch.
class DeviceView {
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
Result launch(Stream* stream, std::string_view name, Kernel kernel, std::uint64_t* correlation = nullptr) noexcept;
// Host memory must stay as it is until the copy has run. Ranges are checked before the call returns.
Result copy_async(void* to, const void* from, std::size_t bytes, CopyKind kind, Stream* stream) noexcept;
Result set_async(void* to, int value, std::size_t bytes, Stream* stream) noexcept;
// Host code that runs when the stream gets there, also after a failure; it is no activity of the device.
Result call_host(Stream* stream, std::function<void()> function) noexcept;

// --- events ----------------------------------------------------------------------------------------------------------------------------

Result create_event(Event** event) noexcept;
Result destroy_event(Event* event) noexcept;  // also while recorded or waited for
// The event is reached when the stream gets here. Recording again forgets the earlier place.
Result record_event(Event* event, Stream* stream) noexcept;
// The stream waits for the last place where the event was recorded; does nothing for an event never recorded.
Result wait_event(Stream* stream, Event* event) noexcept;
Result query(Event* event) noexcept;  // kSuccess if reached or never recorded
Result synchronize(Event* event) noexcept;
// Device time between two reached events of one device, in milliseconds; kNotReady before that.
Result elapsed(double* milliseconds, Event* start, Event* end) noexcept;

// --- clock -----------------------------------------------------------------------------------------------------------------------------

// The device's clock now. Reads no lock and waits for nothing: a bracket of host reads around it is narrow.
Result read_clock(int device, std::uint64_t* ticks) noexcept;
Result clock_rate(int device, double* nominal_ticks_per_ns) noexcept;

}  // namespace mindtorch::reference_device
