// The device's own clock: a function of the host's time that is close to, but not, the host's time.
#pragma once

#include <cstdint>

#include "mindtorch/reference_device/config.h"

namespace mindtorch::reference_device {

class DeviceClock {
 public:
  DeviceClock(const ClockConfig& config, int device, std::uint64_t origin_ns);

  // True if a clock so configured only ever goes forward, with a rate near its nominal one.
  static bool is_sane(const ClockConfig& config, int devices) noexcept;

  // Ticks at a moment of the host, which may not lie before the origin.
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
