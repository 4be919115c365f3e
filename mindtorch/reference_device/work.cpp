// The calls of device.h that queue work: launches, copies, memsets.
#include <cstring>
#include <utility>

#include "mindtorch/reference_device/api_call.h"

namespace mindtorch::reference_device {
namespace {

bool is_device_range(Driver& on, const void* address, std::size_t bytes) {
  Device* owner = on.owner_of(address);
  return owner != nullptr && owner->memory().is_live(address, bytes);
}

bool is_host_range(Driver& on, const void* address) { return address != nullptr && on.owner_of(address) == nullptr; }

const char* copy_name(CopyKind kind) {
  switch (kind) {
    case CopyKind::kHostToDevice: return "Memcpy HtoD";
    case CopyKind::kDeviceToHost: return "Memcpy DtoH";
    case CopyKind::kDeviceToDevice: return "Memcpy DtoD";
  }
  return nullptr;
}

// The address for the worker of the stream. A copy between devices reads the bytes of the other device.
template <class T>
T* resolve(Driver& on, T* address) {
  Device* owner = on.owner_of(address);
  return owner != nullptr ? static_cast<T*>(owner->memory().view().at(static_cast<const void*>(address))) : address;
}

}  // namespace

Result launch(Stream* stream, std::string_view name, Kernel kernel, std::uint64_t* correlation) noexcept {
  if (stream == nullptr || !kernel) return Result::kInvalidArgument;
  ApiCall call(stream->device().driver(), "npuLaunchKernel");
  KernelActivity record{};
  if (call.collects(kKernelActivity)) record.name = lasting_name(name);
  const Result result = call.submit(*stream, {.name = std::string(name), .body = std::move(kernel)}, kKernelActivity, record);
  if (correlation != nullptr) *correlation = call.correlation();
  return result;
}

Result copy_async(void* to, const void* from, std::size_t bytes, CopyKind kind, Stream* stream) noexcept {
  if (stream == nullptr || copy_name(kind) == nullptr) return Result::kInvalidArgument;
  if (bytes == 0) return Result::kSuccess;
  Driver& on = stream->device().driver();
  ApiCall call(on, "npuMemcpyAsync");
  const bool to_is_valid = kind == CopyKind::kDeviceToHost ? is_host_range(on, to) : is_device_range(on, to, bytes);
  const bool from_is_valid = kind == CopyKind::kHostToDevice ? is_host_range(on, from) : is_device_range(on, from, bytes);
  if (!to_is_valid || !from_is_valid) return call.finish(Result::kInvalidAddress);
  MemcpyActivity record{};
  record.size = bytes;
  record.direction = kind;
  Kernel body = [to = resolve(on, to), from = resolve(on, from), bytes](const DeviceView&) { std::memmove(to, from, bytes); };
  return call.submit(*stream, {.name = copy_name(kind), .body = std::move(body)}, kMemcpyActivity, record);
}

Result set_async(void* to, int value, std::size_t bytes, Stream* stream) noexcept {
  if (stream == nullptr) return Result::kInvalidArgument;
  if (bytes == 0) return Result::kSuccess;
  Driver& on = stream->device().driver();
  ApiCall call(on, "npuMemsetAsync");
  if (!is_device_range(on, to, bytes)) return call.finish(Result::kInvalidAddress);
  MemsetActivity record{};
  record.size = bytes;
  record.value = value;
  Kernel body = [to = resolve(on, to), value, bytes](const DeviceView&) { std::memset(to, value, bytes); };
  return call.submit(*stream, {.name = "Memset", .body = std::move(body)}, kMemsetActivity, record);
}

Result call_host(Stream* stream, std::function<void()> function) noexcept {
  if (stream == nullptr || !function) return Result::kInvalidArgument;
  ApiCall call(stream->device().driver(), "npuLaunchHostFunc");
  Kernel body = [function = std::move(function)](const DeviceView&) { function(); };
  return call.finish(stream->enqueue({.name = "host function", .body = std::move(body), .is_mark = true, .runs_always = true}));
}

}  // namespace mindtorch::reference_device
