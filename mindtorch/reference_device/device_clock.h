// The clock of a device: a function of the host's time with its own offset, rate, drift and wobble.
#pragma once

#include <cstdint>

#include "mindtorch/reference_device/config.h"

namespace mindtorch::reference_device {

class DeviceClock {
 public:
  DeviceClock(const ClockConfig& config, int device, std::uint64_t origin_ns);

  // True if a clock with this configuration never goes backward and has a rate near the nominal one.
  static bool is_sane(const ClockConfig& config, int devices) noexcept;

  // The ticks at a time of the host, which must not be before the origin.
  std::uint64_t at(std::uint64_t host_ns) const noexcept;
  double ticks_per_ns() const noexcept { return ticks_per_ns_; }

 private:
  std::uint64_t origin_ns_;
  std::uint64_t offset_ticks_;
  double ticks_per_ns_;
  double rate_;  // with drift
  double wobble_ticks_;
  double wobble_radians_per_ns_;
};

}  // namespace mindtorch::reference_device
