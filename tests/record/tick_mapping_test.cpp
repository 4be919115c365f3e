// Ticks to nanoseconds: exact, monotonic, and honest about how far they may be off.
#include "mindtorch/record/tick_mapping.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace mindtorch::record {
namespace {

TEST(TickMapping, WithoutAnchorsTicksAreNanoseconds) {
  TickMapping mapping;
  EXPECT_EQ(mapping.to_ns(0), 0);
  EXPECT_EQ(mapping.to_ns(123'456'789'012), 123'456'789'012);
}

TEST(TickMapping, AWeekOfTicksKeepsItsNanoseconds) {
  const std::uint64_t zero = 4'000'000'000'000'000;
  TickMapping mapping({zero, 0, 0}, 1.0 / 2.5);
  const std::uint64_t week_ns = 7ull * 86'400 * 1'000'000'000;
  EXPECT_NEAR(static_cast<double>(mapping.to_ns(zero + week_ns * 5 / 2)), static_cast<double>(week_ns), 1.0);
  EXPECT_NEAR(static_cast<double>(mapping.to_ns(zero + 25)), 10, 1.0);
}

TEST(TickMapping, TicksBeforeZeroAreNegativeTimes) {
  TickMapping mapping({1000, 0, 0}, 2.0);
  EXPECT_EQ(mapping.to_ns(900), -200);
}

TEST(TickMapping, GoesThroughEveryAnchorAndExtendsTheOuterPieces) {
  TickMapping mapping({{100, 0, 0}, {200, 100, 0}, {300, 300, 0}});
  EXPECT_EQ(mapping.to_ns(100), 0);
  EXPECT_EQ(mapping.to_ns(150), 50);
  EXPECT_EQ(mapping.to_ns(200), 100);
  EXPECT_EQ(mapping.to_ns(250), 200);
  EXPECT_EQ(mapping.to_ns(400), 500);
  EXPECT_EQ(mapping.to_ns(50), -50);
  EXPECT_EQ(mapping.to_ns(150), 50) << "going back must find the earlier piece again";
}

TEST(TickMapping, NeverRunsBackwardsEvenIfSamplesDo) {
  TickMapping mapping({{100, 0, 0}, {200, 100, 0}, {300, 90, 0}, {400, 200, 0}});
  std::int64_t last = mapping.to_ns(100);
  for (std::uint64_t ticks = 100; ticks <= 400; ++ticks) {
    EXPECT_GE(mapping.to_ns(ticks), last);
    last = mapping.to_ns(ticks);
  }
}

// A clock whose rate wobbles, sampled with noise: every mapped time must lie within the stated bound of the truth.
TEST(TickMapping, StatesABoundThatHoldsForAWobblingNoisyClock) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    const double drift = std::uniform_real_distribution(-200e-6, 200e-6)(random);
    const double wobble_ns = std::uniform_real_distribution(0.0, 5000.0)(random);
    const double period_ns = 2e9;
    const std::int64_t noise = std::uniform_int_distribution<std::int64_t>(0, 500)(random);
    const auto ticks_at = [&](double ns) {
      return static_cast<std::uint64_t>(1e9 + ns * (1 + drift) + wobble_ns * std::sin(ns / period_ns * 6.283185));
    };
    std::vector<ClockAnchor> anchors;
    for (int i = 0; i <= 40; ++i) {
      const double truth = i * 50e6;
      const auto error = noise == 0 ? 0 : std::uniform_int_distribution<std::int64_t>(-noise, noise)(random);
      anchors.push_back({ticks_at(truth), static_cast<std::int64_t>(truth) + error, noise});
    }
    TickMapping mapping(anchors);
    for (int i = 0; i < 500; ++i) {
      const double truth = std::uniform_real_distribution(0.0, 40 * 50e6)(random);
      const double off = std::abs(static_cast<double>(mapping.to_ns(ticks_at(truth))) - truth);
      ASSERT_LE(off, static_cast<double>(mapping.error_bound_ns()) + 2)
          << "drift " << drift << " wobble " << wobble_ns << " noise " << noise;
    }
  }
}

}  // namespace
}  // namespace mindtorch::record
