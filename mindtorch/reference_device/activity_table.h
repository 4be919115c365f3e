// What mindtorch_reference_activity_api() returns.
#pragma once

#include "mindtorch/reference_device/activity.h"
#include "mindtorch/reference_device/activity_api.h"
#include "mindtorch/reference_device/device.h"

namespace mindtorch::reference_device {

// The functions of activity.h, and those of device.h that profilers and tests of them need.
struct ActivityApi {
  Result (*subscribe)(const Subscriber& subscriber) noexcept;
  Result (*unsubscribe)() noexcept;
  Result (*collect)(std::uint32_t kinds) noexcept;
  Result (*flush)() noexcept;
  const Activity* (*next_record)(const std::uint8_t* buffer, std::size_t valid, const Activity* previous) noexcept;
  int (*device_count)() noexcept;
  Result (*read_clock)(int device, std::uint64_t* ticks) noexcept;
  Result (*clock_rate)(int device, double* nominal_ticks_per_ns) noexcept;
  Result (*memory_info)(int device, std::size_t* free_bytes, std::size_t* total_bytes) noexcept;
  Result (*synchronize_device)(int device) noexcept;
  Result (*default_stream)(int device, Stream** stream) noexcept;
  Result (*launch)(Stream* stream, std::string_view name, Kernel kernel, std::uint64_t* correlation) noexcept;
};

}  // namespace mindtorch::reference_device
