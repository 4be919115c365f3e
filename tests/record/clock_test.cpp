// The clocks: they advance together, and the hardware counter tells nanoseconds.
#include "mindtorch/record/clock.h"

#include <gtest/gtest.h>
#include <time.h>

namespace mindtorch::record {
namespace {

class EveryClockTest : public testing::TestWithParam<Clock* (*)()> {};

TEST_P(EveryClockTest, NeverReadsZeroAndNeverGoesBack) {
  Clock& clock = *GetParam()();
  std::uint64_t last = clock.ticks();
  EXPECT_NE(last, 0u);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t now = clock.ticks();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST_P(EveryClockTest, SamplesLieBetweenReadingsTakenAround) {
  Clock& clock = *GetParam()();
  timespec before, after;
  ::clock_gettime(CLOCK_MONOTONIC, &before);
  const std::uint64_t ticks_before = clock.ticks();
  const ClockSample sample = clock.sample();
  const std::uint64_t ticks_after = clock.ticks();
  ::clock_gettime(CLOCK_MONOTONIC, &after);
  EXPECT_LE(ticks_before, sample.ticks);
  EXPECT_GE(ticks_after, sample.ticks);
  EXPECT_GE(sample.monotonic_ns, before.tv_sec * 1'000'000'000 + before.tv_nsec);
  EXPECT_LE(sample.monotonic_ns, after.tv_sec * 1'000'000'000 + after.tv_nsec);
  EXPECT_GT(sample.unix_ns, 1'600'000'000'000'000'000);
}

TEST_P(EveryClockTest, ItsRateTurnsTicksIntoTheNanosecondsOfTheSystem) {
  Clock& clock = *GetParam()();
  const ClockSample first = clock.sample();
  ClockSample last = first;
  while (last.monotonic_ns - first.monotonic_ns < 20'000'000) last = clock.sample();
  const double ns = static_cast<double>(last.ticks - first.ticks) * clock.ns_per_tick();
  EXPECT_NEAR(ns / static_cast<double>(last.monotonic_ns - first.monotonic_ns), 1.0, 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Clocks, EveryClockTest,
                         testing::Values([]() -> Clock* { return &system_clock(); }, []() -> Clock* { return &monotonic_clock(); }));

TEST(SystemClock, IsNamedAfterTheCounterThatItReads) {
  if (!system_clock().is_hardware()) GTEST_SKIP() << "this machine has no counter that can be trusted";
#if defined(__aarch64__)
  EXPECT_EQ(system_clock().name(), "cntvct");
#else
  EXPECT_EQ(system_clock().name(), "tsc");
#endif
}

TEST(FakeClock, MovesOnlyWhenTold) {
  FakeClock clock;
  const std::uint64_t start = clock.ticks();
  EXPECT_EQ(clock.ticks(), start);
  clock.advance(5);
  EXPECT_EQ(clock.ticks(), start + 5);
  clock.tick_by(2);
  EXPECT_EQ(clock.ticks(), start + 7);
  EXPECT_EQ(clock.ticks(), start + 9);
}

}  // namespace
}  // namespace mindtorch::record
