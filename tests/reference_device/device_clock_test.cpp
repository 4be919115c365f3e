// The device clock drifts, wobbles and never goes back.
#include "mindtorch/reference_device/device_clock.h"

#include <gtest/gtest.h>

namespace mindtorch::reference_device {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

TEST(DeviceClock, StartsAtItsOffsetNotAtTheHostsTime) {
  const DeviceClock clock({.offset_ticks = 1000}, 0, 5 * kSecond);
  EXPECT_EQ(clock.at(5 * kSecond), 1000u);
}

TEST(DeviceClock, DriftsByTheGivenPartsPerMillion) {
  const DeviceClock clock({.drift_ppm = 35, .offset_ticks = 0}, 0, 0);
  EXPECT_NEAR(static_cast<double>(clock.at(kSecond)), 1'000'035'000.0, 1.0);
}

TEST(DeviceClock, CountsCoarseTicksWhenItsRateIsLow) {
  const DeviceClock clock({.ticks_per_ns = 0.05, .drift_ppm = 0, .offset_ticks = 0}, 0, 0);
  EXPECT_EQ(clock.at(19), 0u);
  EXPECT_EQ(clock.at(20), 1u);
  EXPECT_EQ(clock.at(kSecond), 50'000'000u);
}

TEST(DeviceClock, DiffersFromDeviceToDevice) {
  const ClockConfig config{.drift_ppm = 10, .offset_ticks = 100};
  const DeviceClock first(config, 0, 0);
  const DeviceClock second(config, 1, 0);
  EXPECT_EQ(second.at(0) - first.at(0), 100u);
  EXPECT_NEAR(static_cast<double>(second.at(kSecond) - first.at(kSecond)), 100 + 10'000, 1.0);
}

TEST(DeviceClock, NeverRunsBackwardsHoweverItWobbles) {
  const ClockConfig config{.drift_ppm = -50, .offset_ticks = 0, .wobble_ns = 1'000'000, .wobble_period_ns = 1e8};
  ASSERT_TRUE(DeviceClock::is_sane(config, 1));
  const DeviceClock clock(config, 0, 0);
  std::uint64_t last = 0;
  for (std::uint64_t now = 1000; now < kSecond; now += 10'000) {
    const std::uint64_t ticks = clock.at(now);
    ASSERT_GE(ticks, last) << "at " << now;
    last = ticks;
  }
  EXPECT_NEAR(static_cast<double>(clock.at(25'000'000)), 26'000'000 * (1 - 50e-6), 100.0);  // a quarter period: the full amplitude ahead
}

TEST(DeviceClock, RefusesAConfigurationThatCouldStandStill) {
  EXPECT_TRUE(DeviceClock::is_sane({}, 8));
  EXPECT_FALSE(DeviceClock::is_sane({.ticks_per_ns = 0}, 1));
  EXPECT_FALSE(DeviceClock::is_sane({.drift_ppm = 200'000}, 1));
  EXPECT_FALSE(DeviceClock::is_sane({.wobble_ns = 1e6, .wobble_period_ns = 1e6}, 1));
  EXPECT_FALSE(DeviceClock::is_sane({.wobble_period_ns = 0}, 1));
}

}  // namespace
}  // namespace mindtorch::reference_device
