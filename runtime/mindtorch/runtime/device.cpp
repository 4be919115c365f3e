// Devices: names and the registry of backends.
#include "mindtorch/runtime/device.h"

#include <array>
#include <atomic>
#include <charconv>
#include <cstring>
#include <mutex>

namespace mindtorch {

namespace {

constexpr int kDeviceTypes = 32;

struct Registration {
  std::atomic<DeviceBackend*> backend{nullptr};
  std::atomic<void (*)()> provide{nullptr};
  std::once_flag provided;
};

std::array<Registration, kDeviceTypes>& registrations() {
  static auto* all = new std::array<Registration, kDeviceTypes>();  // outlives every tensor in a static variable
  return *all;
}

Registration& registration(DeviceType type) { return registrations()[static_cast<std::size_t>(type)]; }

std::string_view type_text(DeviceType type) {
  switch (type) {
    case DeviceType::kCpu: return "cpu";
    case DeviceType::kCuda: return "cuda";
    case DeviceType::kNpu: return "npu";
  }
  return "?";
}

}  // namespace

Device::Device(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  bool good = true;
  if (name == "cpu")
    type = DeviceType::kCpu;
  else if (name == "cuda")
    type = DeviceType::kCuda;
  else if (name == "npu")
    type = DeviceType::kNpu;
  else
    good = false;
  if (good && colon != std::string_view::npos) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, index);
    good = error == std::errc() && stop == end;
  }
  if (!good)
    throw_error("runtime.device", "Invalid device string: '{}'; expected cpu, npu or cuda, with an index if there are several (npu:0)",
                text);
}

std::string Device::str() const { return is_cpu() ? "cpu" : fmt::format("{}:{}", type_text(type), index); }

void DeviceBackend::zero(Device device, void* to, std::size_t bytes) {
  if (bytes > 0) launch(device, "zero_", [to, bytes](const AddressMap& map) { std::memset(map(to), 0, bytes); });
}

void register_device_backend(DeviceBackend& backend) { registration(backend.type()).backend.store(&backend, std::memory_order_release); }

void set_device_provider(DeviceType type, void (*provide)()) { registration(type).provide.store(provide, std::memory_order_release); }

DeviceBackend* find_device_backend(DeviceType type) {
  Registration& entry = registration(type);
  DeviceBackend* backend = entry.backend.load(std::memory_order_acquire);
  if (backend != nullptr) return backend;
  if (void (*provide)() = entry.provide.load(std::memory_order_acquire)) std::call_once(entry.provided, provide);
  return entry.backend.load(std::memory_order_acquire);
}

Status device_availability(DeviceType type) {
  DeviceBackend* backend = find_device_backend(type);
  if (backend == nullptr) return Status::unavailable(fmt::format("this build has no backend for device '{}'", type_text(type)));
  return backend->availability();
}

DeviceBackend& device_backend(Device device) {
  DeviceBackend* backend = find_device_backend(device.type);
  const Status status = backend != nullptr ? backend->availability() : device_availability(device.type);
  if (!status) throw_error("runtime.device", "device '{}' cannot be used: {}", device.str(), status.reason());
  if (device.index >= backend->device_count())
    throw_error("runtime.device", "device '{}' does not exist: there are {} devices of this type", device.str(), backend->device_count());
  return *backend;
}

void synchronize(Device device) {
  if (!device.is_cpu()) device_backend(device).synchronize(device);
}

}  // namespace mindtorch
