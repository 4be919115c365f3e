// Devices. A Device names the place of a tensor; a DeviceBackend computes there. The CPU is one backend. Another backend is registered with
// register_device_backend() and needs no change in the rest of the runtime.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "mindtorch/base/error.h"
#include "mindtorch/base/export.h"
#include "mindtorch/record/slot.h"

namespace mindtorch {

using DeviceType = record::DeviceType;
inline constexpr DeviceType kCPU = DeviceType::kCpu;
inline constexpr DeviceType kCUDA = DeviceType::kCuda;
inline constexpr DeviceType kNPU = DeviceType::kNpu;

struct MINDTORCH_EXPORT Device {
  DeviceType type = DeviceType::kCpu;
  std::uint8_t index = 0;

  constexpr Device() = default;
  constexpr Device(DeviceType device_type, std::uint8_t device_index = 0) : type(device_type), index(device_index) {}
  // From "cpu", "npu" or "npu:1". Throws for any other text.
  Device(std::string_view text);
  Device(const char* text) : Device(std::string_view(text)) {}

  constexpr bool is_cpu() const { return type == DeviceType::kCpu; }
  std::string str() const;  // "cpu", "npu:0"
  constexpr operator record::Device() const { return {type, index}; }
  friend constexpr bool operator==(Device a, Device b) { return a.type == b.type && a.index == b.index; }
};

class CachingAllocator;

// The backend's id of a stream. 0 means the default stream, or that the device has no streams.
using StreamId = std::uint64_t;

// Translates device addresses for a running kernel. A device may have an address space of its own: host code can store its addresses but
// must not dereference them.
class MINDTORCH_EXPORT AddressMap {
 public:
  template <class T>
  T* operator()(T* address) const {
    return address != nullptr ? static_cast<T*>(translate(address)) : nullptr;
  }

 protected:
  ~AddressMap() = default;
  virtual void* translate(const void* address) const = 0;
};

// The interface that a device implements. All functions may be called from any thread. Work is ordered by the calling thread's current
// stream of the device. A parameter `device` carries the index of the device. A backend that can run host code (the CPU, the workers of the
// reference NPU) executes the runtime's own kernels: see launch() and runtime/launch.h.
class MINDTORCH_EXPORT DeviceBackend {
 public:
  virtual ~DeviceBackend() = default;
  virtual DeviceType type() const = 0;
  // Ok if the device can be used, else a reason that a user can act on.
  virtual Status availability() const = 0;
  virtual int device_count() const = 0;

  // The allocator of one device. A block that the host frees may be reused at once, because the stream orders its uses.
  virtual CachingAllocator& allocator(Device device) = 0;

  // Runs host code on the current stream, recorded under `kernel` (a static string). It may return before the work has run. The next
  // synchronize() rethrows an exception of the work. `work` holds device addresses, not tensors, and dereferences them through the map that
  // it receives.
  using Work = std::function<void(const AddressMap&)>;
  virtual void launch(Device device, const char* kernel, Work work) = 0;

  // Copies between this device and the host or within the device, ordered by the stream. The caller may change or free host memory as soon
  // as the call has returned. A copy to host memory is then complete; a `non_blocking` copy from host memory may still be running.
  enum class CopyKind { kHostToDevice, kDeviceToHost, kDeviceToDevice };
  virtual void copy(Device device, void* to, const void* from, std::size_t bytes, CopyKind kind, bool non_blocking = false) = 0;

  // Writes zeros to the device's memory, ordered by the stream. The default implementation launches a kernel.
  virtual void zero(Device device, void* to, std::size_t bytes);

  // Waits for all work that was queued on the device before this call.
  virtual void synchronize(Device device) = 0;

  // The stream that receives the calling thread's work on the device. Work that is passed to another thread stays in its stream.
  virtual StreamId current_stream(Device) { return 0; }
  virtual void set_current_stream(Device, StreamId) {}
  // Makes the current stream wait for the work that was queued on any stream of the device before this call.
  virtual void join_streams(Device) {}
};

// Registers a backend, which must never be destroyed. Registering a type again replaces its backend (a fake in a test, another provider).
MINDTORCH_EXPORT void register_device_backend(DeviceBackend& backend);

// Sets the function that is called once when a user asks for a type without a registered backend, before the error is raised, so that a
// provider can be loaded on demand. The function registers a backend or does nothing.
MINDTORCH_EXPORT void set_device_provider(DeviceType type, void (*provide)());

// The backend of a device. Throws with the reason if no backend is registered or the device is not available.
MINDTORCH_EXPORT DeviceBackend& device_backend(Device device);
// The backend of a device type, or null.
MINDTORCH_EXPORT DeviceBackend* find_device_backend(DeviceType type);
// Ok, or the reason why devices of this type cannot be used.
MINDTORCH_EXPORT Status device_availability(DeviceType type);

// Waits for all queued work of a device. Returns at once for the CPU.
MINDTORCH_EXPORT void synchronize(Device device);

}  // namespace mindtorch
