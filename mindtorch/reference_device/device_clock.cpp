// The arithmetic of a drifting clock.
#include "mindtorch/reference_device/device_clock.h"

#include <cmath>
#include <numbers>

namespace mindtorch::reference_device {

DeviceClock::DeviceClock(const ClockConfig& config, int device, std::uint64_t origin_ns)
    : origin_ns_(origin_ns),
      offset_ticks_(config.offset_ticks * static_cast<std::uint64_t>(device + 1)),
      ticks_per_ns_(config.ticks_per_ns),
      rate_(config.ticks_per_ns * (1.0 + config.drift_ppm * (device + 1) * 1e-6)),
      wobble_ticks_(config.ticks_per_ns * config.wobble_ns),
      wobble_radians_per_ns_(2.0 * std::numbers::pi / config.wobble_period_ns) {}

bool DeviceClock::is_sane(const ClockConfig& config, int devices) noexcept {
  if (!(config.ticks_per_ns > 0 && config.wobble_period_ns > 0 && config.wobble_ns >= 0)) return false;
  const double drift = std::abs(config.drift_ppm) * devices * 1e-6;
  const double steepest_wobble = config.wobble_ns * 2.0 * std::numbers::pi / config.wobble_period_ns;
  return drift + steepest_wobble < 0.1;
}

std::uint64_t DeviceClock::at(std::uint64_t host_ns) const noexcept {
  const double elapsed = static_cast<double>(host_ns - origin_ns_);
  const double ticks = rate_ * elapsed + wobble_ticks_ * std::sin(elapsed * wobble_radians_per_ns_);
  return offset_ticks_ + static_cast<std::uint64_t>(ticks);
}

}  // namespace mindtorch::reference_device
