// Shift: estimates and intervals of two runs.
#include "mindtorch/analyze/diff/shift.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/analyze/diff/runs.h"

namespace mindtorch::analyze {
namespace {

TEST(Shift, IsTheMedianOfAllDifferences) {
  const std::vector<double> before = {1, 2, 3}, after = {11, 12, 13};
  const Shift shift = compare_runs(before, after, 0.01);
  EXPECT_EQ(shift.before, 2);
  EXPECT_EQ(shift.after, 12);
  EXPECT_EQ(shift.change, 10);
  EXPECT_EQ(shift.relative(shift.change), 5);
}

TEST(Shift, TooFewStepsGiveNoBounds) {
  const std::vector<double> before = {1, 2}, after = {11, 12};
  const Shift shift = compare_runs(before, after, 0.01);
  EXPECT_TRUE(std::isinf(shift.low) && std::isinf(shift.high));
  EXPECT_FALSE(shift.is_change());
  EXPECT_FALSE(compare_runs({}, after, 0.01).is_change());
}

TEST(Shift, OfEqualConstantRunsIsZeroWithoutDoubt) {
  const std::vector<double> same(20, 5);
  const Shift shift = compare_runs(same, same, 0.01);
  EXPECT_EQ(shift.low, 0);
  EXPECT_EQ(shift.high, 0);
  EXPECT_FALSE(shift.is_change());
}

TEST(Shift, AFewSlowStepsDoNotMatter) {
  std::vector<double> before(30, 100), after(30, 100);
  for (std::size_t i = 0; i < before.size(); ++i) before[i] += static_cast<double>(i % 5), after[i] += static_cast<double>(i % 5);
  after[3] = after[17] = after[25] = 10000;
  EXPECT_FALSE(compare_runs(before, after, 0.01).is_change());
}

TEST(Shift, ItsIntervalMissesTheTruthAsRarelyAsItSays) {
  std::mt19937_64 random(1);
  int missed = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const std::vector<double> before = noisy_values(random, 30, 100, {}), after = noisy_values(random, 30, 105, {});
    const Shift shift = compare_runs(before, after, 0.05);
    missed += shift.low > 5 || shift.high < 5;
  }
  EXPECT_LE(missed, 2000 * 0.07);
  EXPECT_GE(missed, 1);  // an interval that never misses is wider than it says
}

TEST(Shift, NeighboursThatAreAlikeWidenTheInterval) {
  std::mt19937_64 random(2);
  int found = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const Noise drifting{.correlation = 0.6};
    found += compare_runs(noisy_values(random, 40, 100, drifting), noisy_values(random, 40, 100, drifting), 0.02).is_increase();
  }
  EXPECT_LE(found, 25);
}

TEST(Shift, LongRunsAreAveragedInGroups) {
  std::mt19937_64 random(3);
  const Shift shift = compare_runs(noisy_values(random, 100000, 100, {}), noisy_values(random, 100000, 100.5, {}), 0.01);
  EXPECT_TRUE(shift.is_increase());
  EXPECT_NEAR(shift.change, 0.5, 0.1);
}

}  // namespace
}  // namespace mindtorch::analyze
