// Devices. A Device names where a tensor lives; a DeviceBackend is what computes there. The CPU is one backend; others register themselves
// (register_device_backend) and the rest of the runtime does not change.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "mindtorch/base/error.h"
#include "mindtorch/record/slot.h"

namespace mindtorch {

using DeviceType = record::DeviceType;
inline constexpr DeviceType kCPU = DeviceType::kCpu;
inline constexpr DeviceType kCUDA = DeviceType::kCuda;
inline constexpr DeviceType kNPU = DeviceType::kNpu;

struct Device {
  DeviceType type = DeviceType::kCpu;
  std::uint8_t index = 0;

  constexpr Device() = default;
  constexpr Device(DeviceType device_type, std::uint8_t device_index = 0) : type(device_type), index(device_index) {}
  // "cpu", "npu", "npu:1"; throws on anything else.
  Device(std::string_view text);
  Device(const char* text) : Device(std::string_view(text)) {}

  constexpr bool is_cpu() const { return type == DeviceType::kCpu; }
  std::string str() const;  // "cpu", "npu:0"
  constexpr operator record::Device() const { return {type, index}; }
  friend constexpr bool operator==(Device a, Device b) { return a.type == b.type && a.index == b.index; }
};

class CachingAllocator;

// A stream of a device, as its backend names it. 0: none, or the default one.
using StreamId = std::uint64_t;

// How a running kernel follows device addresses. A device may have an address space of its own: host code can hold its addresses but not
// follow them.
class AddressMap {
 public:
  template <class T>
  T* operator()(T* address) const {
    return address != nullptr ? static_cast<T*>(translate(address)) : nullptr;
  }

 protected:
  ~AddressMap() = default;
  virtual void* translate(const void* address) const = 0;
};

// What a device must be able to do. All functions may be called from any thread; work is ordered by the calling thread's current stream of
// the device, and functions that take `device` get its index in it. A backend that can run host code (the CPU, the reference NPU's workers)
// executes the runtime's own kernels: see launch() and runtime/launch.h.
class DeviceBackend {
 public:
  virtual ~DeviceBackend() = default;
  virtual DeviceType type() const = 0;
  // Why the device cannot be used, in words a user can act on; ok if it can.
  virtual Status availability() const = 0;
  virtual int device_count() const = 0;

  // Memory of one device. Blocks freed by the host may be given out again at once: reuse is ordered by the stream.
  virtual CachingAllocator& allocator(Device device) = 0;

  // Runs host code on the current stream, recorded under `kernel` (a string with static life). It may return before the work has run; an
  // exception that the work throws is raised by the next synchronize(). `work` holds device addresses, not tensors, and follows them by way
  // of the map it is given.
  using Work = std::function<void(const AddressMap&)>;
  virtual void launch(Device device, const char* kernel, Work work) = 0;

  // Copies between this device and the host or within the device, ordered by the stream. Host memory may change or go away once the call
  // has returned. A copy to host memory is done by then; one from host memory may be under way if it is `non_blocking`.
  enum class CopyKind { kHostToDevice, kDeviceToHost, kDeviceToDevice };
  virtual void copy(Device device, void* to, const void* from, std::size_t bytes, CopyKind kind, bool non_blocking = false) = 0;

  // Writes zeros to the device's memory, ordered by the stream. A backend without something quicker launches a kernel.
  virtual void zero(Device device, void* to, std::size_t bytes);

  // Waits for all work given to the device so far.
  virtual void synchronize(Device device) = 0;

  // Where the calling thread's work on the device goes. Work that is handed to another thread stays in its stream.
  virtual StreamId current_stream(Device) { return 0; }
  virtual void set_current_stream(Device, StreamId) {}
  // The current stream goes on only after all that the device has been given so far, on any stream.
  virtual void join_streams(Device) {}
};

// Makes a backend known; it lives for ever. Registering a type again replaces the backend (a test's fake, another provider).
void register_device_backend(DeviceBackend& backend);

// Where users ask for a type nobody has registered yet: called once, before the error is raised, so that a provider can be loaded on
// demand. The function registers a backend or does nothing.
void set_device_provider(DeviceType type, void (*provide)());

// The backend of a device. Throws if there is none or it is not available, with the reason.
DeviceBackend& device_backend(Device device);
// The same, or null.
DeviceBackend* find_device_backend(DeviceType type);
// ok, or why this device cannot be used.
Status device_availability(DeviceType type);

// Waits for a device; nothing to do on the CPU.
void synchronize(Device device);

}  // namespace mindtorch
