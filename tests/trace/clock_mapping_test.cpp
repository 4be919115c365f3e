// Ticks to nanoseconds: exact over days, in order, never out of range.
#include "mindtorch/trace/clock_mapping.h"

#include <gtest/gtest.h>

#include <limits>

namespace mindtorch::trace {
namespace {

TEST(ClockMapping, OneTickANanosecondIsTheIdentity) {
  const TickLine line({.tick0 = 1000, .ns0 = -5, .ns_per_tick = 1});
  EXPECT_EQ(line.to_ns(1000), -5);
  EXPECT_EQ(line.to_ns(1001), -4);
  EXPECT_EQ(line.to_ns(0), -1005);
}

TEST(ClockMapping, AMonthOfTicksKeepsItsNanoseconds) {
  // 2.5 GHz: 0.4 ns a tick, which no binary fraction is exactly. A double rate is good to 2^-53: 0.3 ns after a month.
  const TickLine line({.tick0 = 123, .ns0 = 0, .ns_per_tick = 0.4});
  const std::uint64_t month_ns = 31ull * 86400 * 1'000'000'000;
  for (std::uint64_t ns = month_ns; ns < month_ns + 20; ns += 2) {
    EXPECT_NEAR(static_cast<double>(line.to_ns(123 + ns / 2 * 5) - static_cast<std::int64_t>(ns)), 0, 1) << ns;
  }
}

TEST(ClockMapping, ADyadicRateIsExactForAnyTick) {
  const TickLine line({.tick0 = 0, .ns0 = 0, .ns_per_tick = 0.375});
  const std::uint64_t tick = (std::uint64_t{1} << 62) + 8;
  EXPECT_EQ(line.to_ns(tick), static_cast<std::int64_t>(tick / 8 * 3));
}

TEST(ClockMapping, TimesBeforeTheAnchorMirrorThoseAfterIt) {
  const TickLine line({.tick0 = 1'000'000, .ns0 = 0, .ns_per_tick = 0.3});
  for (std::uint64_t d = 0; d < 1000; ++d) ASSERT_EQ(line.to_ns(1'000'000 - d), -line.to_ns(1'000'000 + d));
}

TEST(ClockMapping, LaterTicksAreNeverEarlier) {
  const TickLine line({.tick0 = 500, .ns0 = 0, .ns_per_tick = 0.3333333});
  for (std::uint64_t t = 0; t < 1000; ++t) ASSERT_LE(line.to_ns(t), line.to_ns(t + 1));
}

TEST(ClockMapping, AbsurdTicksAreClamped) {
  const TickLine line({.tick0 = 0, .ns0 = kFarthestNs, .ns_per_tick = 0x1p40});
  EXPECT_EQ(line.to_ns(UINT64_MAX), kFarthestNs);
  const TickLine back({.tick0 = UINT64_MAX, .ns0 = -kFarthestNs, .ns_per_tick = 0x1p40});
  EXPECT_EQ(back.to_ns(0), -kFarthestNs);
}

TEST(ClockMapping, OnlyRatesThatAClockCanHaveAreValid) {
  EXPECT_TRUE(is_valid({.ns_per_tick = 0.3}));
  for (const double rate : {0.0, -1.0, 1e-30, 1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_FALSE(is_valid({.ns_per_tick = rate})) << rate;
  }
  EXPECT_FALSE(is_valid({.ns0 = INT64_MAX, .ns_per_tick = 1}));
  EXPECT_FALSE(is_valid({.ns0 = INT64_MIN, .ns_per_tick = 1}));
}

}  // namespace
}  // namespace mindtorch::trace
