// The calls of device.h about memory, streams and clocks. They check arguments and call Driver, Device and Stream.
#include "mindtorch/reference_device/device.h"

#include <system_error>

#include "mindtorch/reference_device/api_call.h"

namespace mindtorch::reference_device {
namespace {

// `call(device)` for a device that exists, else the reason why not.
template <class Call>
Result with_device(int index, Call call) {
  Driver* on = driver();
  if (on == nullptr) return Result::kPoweredOff;
  Device* device = on->device(index);
  return device != nullptr ? call(*device) : Result::kInvalidArgument;
}

}  // namespace

Result allocate(int device, std::size_t bytes, void** address) noexcept {
  if (address == nullptr) return Result::kInvalidArgument;
  return with_device(device, [&](Device& chosen) {
    ApiCall call(chosen.driver(), "npuMalloc");
    return call.finish(chosen.memory().allocate(bytes, address));
  });
}

Result release(void* address) noexcept {
  if (address == nullptr) return Result::kSuccess;
  if (on_library_thread) return Result::kNotPermitted;
  Driver* on = driver();
  if (on == nullptr) return Result::kPoweredOff;
  Device* owner = on->owner_of(address);
  if (owner == nullptr) return Result::kInvalidAddress;
  ApiCall call(*on, "npuFree", ApiCall::Length::kWaits);
  static_cast<void>(owner->synchronize());  // a failed stream is idle too, and keeps its error
  return call.finish(owner->memory().release(address));
}

Result memory_info(int device, std::size_t* free_bytes, std::size_t* total_bytes) noexcept {
  if (free_bytes == nullptr || total_bytes == nullptr) return Result::kInvalidArgument;
  return with_device(device, [&](Device& chosen) {
    *free_bytes = chosen.memory().free_bytes();
    *total_bytes = chosen.memory().total_bytes();
    return Result::kSuccess;
  });
}

int device_of(const void* address) noexcept {
  Driver* on = driver();
  const Device* owner = on != nullptr ? on->owner_of(address) : nullptr;
  return owner != nullptr ? owner->index() : -1;
}

Result create_stream(int device, Stream** stream) noexcept {
  if (stream == nullptr) return Result::kInvalidArgument;
  return with_device(device, [&](Device& chosen) {
    try {
      *stream = chosen.create_stream();
    } catch (const std::system_error&) {  // the process may have no more threads
      return Result::kOutOfMemory;
    }
    return Result::kSuccess;
  });
}

Result destroy_stream(Stream* stream) noexcept {
  if (stream == nullptr) return Result::kInvalidArgument;
  if (on_library_thread) return Result::kNotPermitted;
  return stream->device().destroy_stream(stream);
}

Result default_stream(int device, Stream** stream) noexcept {
  if (stream == nullptr) return Result::kInvalidArgument;
  return with_device(device, [&](Device& chosen) {
    *stream = chosen.default_stream();
    return Result::kSuccess;
  });
}

int stream_id(const Stream* stream) noexcept { return stream->id(); }
int stream_device(const Stream* stream) noexcept { return stream->device().index(); }
Result query(Stream* stream) noexcept { return stream != nullptr ? stream->query() : Result::kInvalidArgument; }

Result synchronize(Stream* stream) noexcept {
  if (stream == nullptr) return Result::kInvalidArgument;
  if (on_library_thread) return Result::kNotPermitted;
  ApiCall call(stream->device().driver(), "npuStreamSynchronize", ApiCall::Length::kWaits);
  return call.finish(stream->synchronize());
}

Result synchronize_device(int device) noexcept {
  if (on_library_thread) return Result::kNotPermitted;
  return with_device(device, [&](Device& chosen) {
    ApiCall call(chosen.driver(), "npuDeviceSynchronize", ApiCall::Length::kWaits);
    return call.finish(chosen.synchronize());
  });
}

Result clear_error(Stream* stream) noexcept {
  if (stream == nullptr) return Result::kInvalidArgument;
  if (on_library_thread) return Result::kNotPermitted;
  stream->clear_error();
  return Result::kSuccess;
}

std::string error_text(const Stream* stream) { return stream->error_text(); }

Result read_clock(int device, std::uint64_t* ticks) noexcept {
  if (ticks == nullptr) return Result::kInvalidArgument;
  return with_device(device, [&](Device& chosen) {
    *ticks = chosen.now().ticks;
    return Result::kSuccess;
  });
}

Result clock_rate(int device, double* nominal_ticks_per_ns) noexcept {
  if (nominal_ticks_per_ns == nullptr) return Result::kInvalidArgument;
  return with_device(device, [&](Device& chosen) {
    *nominal_ticks_per_ns = chosen.clock().ticks_per_ns();
    return Result::kSuccess;
  });
}

}  // namespace mindtorch::reference_device
