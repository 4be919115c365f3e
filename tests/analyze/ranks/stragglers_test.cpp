// Ranks that others wait for.
#include "mindtorch/analyze/ranks/stragglers.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/analyze/ranks/jobs.h"

namespace mindtorch::analyze {
namespace {

std::vector<Straggler> stragglers_of(const std::vector<RankSummary>& job) {
  const Matching matching = match_collectives(job);
  return find_stragglers(job, critical_path(job, matching, align_clocks(matching, job.size())));
}

TEST(Stragglers, ASlowRankIsFoundWithTheTimeAndTheWork) {
  JobPlan plan{.ranks = 4, .steps = 10, .collectives_per_step = 1};
  plan.work_ns = [](std::size_t rank, auto...) { return rank == 2 ? 17 * kMs : 10 * kMs; };
  const auto found = stragglers_of(make_job(plan));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rank, 2U);
  EXPECT_NEAR(found[0].seconds, 0.070, 1e-6);
  EXPECT_EQ(found[0].steps, 10U);
  ASSERT_FALSE(found[0].work.empty());
  EXPECT_EQ(found[0].work[0].name, "slow");
  EXPECT_NEAR(found[0].work[0].seconds, 0.070, 1e-4);
}

TEST(Stragglers, AreFoundThroughNoiseAndClocksThatDisagree) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 20; ++round) {
    JobPlan plan{.ranks = 8, .steps = 20, .collectives_per_step = 3};
    const std::size_t slow = random() % plan.ranks;
    plan.work_ns = [&](std::size_t rank, std::int64_t, std::int64_t place) {
      const std::int64_t noise = static_cast<std::int64_t>(random() % (kMs / 10));
      return 9 * kMs + noise + (rank == slow && place == 1 ? 12 * kMs : 0);
    };
    plan.offset_ns = [&](std::size_t rank, auto) { return static_cast<std::int64_t>(rank) * 7'000 * kMs; };
    const auto found = stragglers_of(make_job(plan));
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found[0].rank, slow);
    EXPECT_NEAR(found[0].seconds, 20 * 0.012, 0.1 * 20 * 0.012);
    EXPECT_EQ(found[0].work.at(0).name, "slow");
  }
}

TEST(Stragglers, TwoSlowRanksAreBothFoundWorstFirst) {
  JobPlan plan{.ranks = 6, .steps = 10, .collectives_per_step = 1};
  plan.work_ns = [](std::size_t rank, std::int64_t step, auto) {
    const bool is_slow = (rank == 1 && step % 2 == 0) || (rank == 4 && step % 2 == 1);
    return 10 * kMs + (is_slow ? (rank == 4 ? 9 : 5) * kMs : 0);
  };
  const auto found = stragglers_of(make_job(plan));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].rank, 4U);
  EXPECT_EQ(found[1].rank, 1U);
  EXPECT_NEAR(found[0].seconds, 0.045, 1e-6);
}

TEST(Stragglers, RanksThatAreSlowInTurnLoseTheirTimeInTheStepsInWhichTheyAreSlow) {
  JobPlan plan{.ranks = 2, .steps = 12, .collectives_per_step = 1};
  plan.work_ns = [](std::size_t rank, std::int64_t step, auto) {
    return step % 2 == static_cast<std::int64_t>(rank) ? 40 * kMs : 10 * kMs;
  };
  const auto found = stragglers_of(make_job(plan));
  ASSERT_EQ(found.size(), 2U);
  for (const Straggler& straggler : found) {
    EXPECT_EQ(straggler.steps, 6U);
    ASSERT_FALSE(straggler.work.empty());
    EXPECT_EQ(straggler.work[0].name, "slow");
    EXPECT_NEAR(straggler.work[0].seconds, straggler.seconds, 0.1 * straggler.seconds);
  }
}

// The recording of the slow rank stops before its last collective has ended.
TEST(Stragglers, AreFoundInAStepWhoseLastCollectiveHasNotEnded) {
  JobPlan plan{.ranks = 4, .steps = 8, .collectives_per_step = 2};
  plan.work_ns = [](std::size_t rank, std::int64_t, std::int64_t place) { return rank == 3 && place == 0 ? 260 * kMs : kMs; };
  auto job = make_job(plan);
  job[3].collectives.back().is_finished = false;
  const auto found = stragglers_of(job);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].rank, 3U);
  EXPECT_NEAR(found[0].seconds, 8 * 0.259, 1e-6);
}

TEST(Stragglers, EqualRanksAreNone) { EXPECT_TRUE(stragglers_of(make_job({})).empty()); }

}  // namespace
}  // namespace mindtorch::analyze
