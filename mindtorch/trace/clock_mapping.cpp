// Ticks to nanoseconds.
#include "mindtorch/trace/clock_mapping.h"

#include <algorithm>
#include <cmath>

namespace mindtorch::trace {
namespace {

constexpr int kMantissaBits = 53;

}  // namespace

bool is_valid(const ClockMapping& mapping) {
  // The comparisons are written so that NaN fails them.
  return mapping.ns_per_tick >= 1e-6 && mapping.ns_per_tick <= 0x1p40 && mapping.ns0 >= -kFarthestNs && mapping.ns0 <= kFarthestNs;
}

TickLine::TickLine(const ClockMapping& mapping) : tick0_(mapping.tick0), ns0_(mapping.ns0) {
  int exponent = 0;
  const double mantissa = std::frexp(mapping.ns_per_tick, &exponent);
  multiplier_ = static_cast<std::uint64_t>(std::ldexp(mantissa, kMantissaBits));
  shift_ = kMantissaBits - exponent;
}

std::int64_t TickLine::to_ns(std::uint64_t tick) const noexcept {
  __extension__ using Wide = unsigned __int128;
  const bool before = tick < tick0_;
  const Wide distance = static_cast<Wide>(before ? tick0_ - tick : tick - tick0_) * multiplier_ >> shift_;
  const auto ns = static_cast<std::int64_t>(std::min<Wide>(distance, static_cast<Wide>(kFarthestNs)));
  return std::clamp(before ? ns0_ - ns : ns0_ + ns, -kFarthestNs, kFarthestNs);
}

}  // namespace mindtorch::trace
