// A source's clock on the timeline: the stated bound holds for every clock a device may have.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "mindtorch/record/device_mapping.h"

namespace mindtorch::record {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

// Samples `device` (host nanoseconds -> ticks) and compares the mapping with the truth all along.
void expect_bound_holds(const std::function<double(double)>& device, double ticks_per_ns, std::int64_t sample_every_ns,
                        std::int64_t bracket_ns) {
  const auto ticks_at = [&](std::int64_t host_ns) { return static_cast<std::uint64_t>(device(static_cast<double>(host_ns))); };
  SourceClock clock{.name = "device", .nominal_ticks_per_ns = ticks_per_ns};
  std::int64_t last = 0;
  for (std::int64_t now = 7; now <= 500 * kMillisecond; last = now, now += sample_every_ns) {
    // The reading happens anywhere in its bracket.
    const std::int64_t before = now - now % (bracket_ns + 1);
    clock.samples.push_back({ticks_at(now), static_cast<std::uint64_t>(before), static_cast<std::uint64_t>(before + bracket_ns)});
  }
  TickMapping session;
  TickMapping mapping = map_source_clock(clock, session);
  std::int64_t worst = 0;
  for (std::int64_t now = 7; now <= last; now += 10'007) {
    worst = std::max(worst, std::abs(mapping.to_ns(ticks_at(now)) - now));
  }
  EXPECT_LE(worst, mapping.error_bound_ns());
  EXPECT_LE(mapping.error_bound_ns(), 10 * worst + 100) << "and says something";
}

TEST(ClockBound, HoldsForAClockThatOnlyDrifts) {
  expect_bound_holds([](double ns) { return 1e9 + ns * (1 + 80e-6); }, 1.0, 20 * kMillisecond, 50);
}

TEST(ClockBound, HoldsForAClockOfCoarseTicks) {
  expect_bound_holds([](double ns) { return 1e9 + ns * 0.05 * (1 + 80e-6); }, 0.05, 20 * kMillisecond, 1);
  expect_bound_holds([](double ns) { return 1e9 + ns * 0.001; }, 0.001, 20 * kMillisecond, 100);
}

TEST(ClockBound, HoldsForAClockThatWobbles) {
  const auto wobbling = [](double ns) { return 1e9 + ns + 20'000 * std::sin(ns / 100e6 * 6.283185307); };
  expect_bound_holds(wobbling, 1.0, 10 * kMillisecond, 50);
}

}  // namespace
}  // namespace mindtorch::record
