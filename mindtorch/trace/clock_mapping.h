// ClockMapping: converts ticks of a clock to nanoseconds of the timeline by a straight line that is exact over days.
#pragma once

#include <cstdint>
#include <string>

namespace mindtorch::trace {

// ns = ns0 + (tick - tick0) * ns_per_tick, rounded toward ns0.
struct ClockMapping {
  std::uint64_t tick0 = 0;
  std::int64_t ns0 = 0;
  double ns_per_tick = 1;
  std::int64_t base_unix_ns = 0;  // Unix time of timeline zero
  std::string name;               // of the clock: "tsc"
  std::int64_t error_bound_ns = 0;
  std::uint64_t samples = 0;
  friend bool operator==(const ClockMapping&, const ClockMapping&) = default;
};

// Times of a mapped clock lie within this distance of timeline zero (73 years), so that sums of two never overflow.
inline constexpr std::int64_t kFarthestNs = std::int64_t{1} << 61;

// True if a clock can have this rate (between one tick per femtosecond and one tick in 18 minutes) and ns0 is within kFarthestNs.
bool is_valid(const ClockMapping& mapping);

// A valid mapping that is prepared for many ticks. It uses integer arithmetic on the full 53 bits of the rate, so that no nanosecond is
// lost.
class TickLine {
 public:
  explicit TickLine(const ClockMapping& mapping);
  std::int64_t to_ns(std::uint64_t tick) const noexcept;  // clamped to kFarthestNs

 private:
  std::uint64_t tick0_;
  std::int64_t ns0_;
  std::uint64_t multiplier_;  // ns_per_tick = multiplier_ / 2^shift_
  int shift_;
};

}  // namespace mindtorch::trace
