// What the ranks of a job tell together.
#include "mindtorch/analyze/ranks/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/analyze/ranks/jobs.h"

namespace mindtorch::analyze {
namespace {

using testing::IsEmpty;

TEST(Job, HasTheStepsOfAllRanks) {
  JobPlan plan{.ranks = 4, .steps = 10, .collectives_per_step = 1};
  plan.work_ns = [](std::size_t rank, std::int64_t step, auto) { return (step == 7 ? 60 : 10) * kMs + (rank == 3 ? kMs : 0); };
  const Job job = reduce_ranks(make_job(plan));
  ASSERT_EQ(job.steps.size(), 10U);
  EXPECT_EQ(job.steps[7].ranks, 4U);
  for (const JobStep& step : job.steps) EXPECT_EQ(step.is_outlier, step.number == 7);
  EXPECT_THAT(job.faults, IsEmpty());
  ASSERT_EQ(job.stragglers.size(), 1U);
  EXPECT_EQ(job.summaries[job.stragglers[0].rank].identity.rank, 3);
}

TEST(Job, RanksThatWaitAreToldFromThoseThatDoNot) {
  JobPlan plan{.ranks = 3, .steps = 5, .collectives_per_step = 1};
  plan.work_ns = [](std::size_t rank, auto...) { return rank == 0 ? 12 * kMs : 10 * kMs; };
  const Job job = reduce_ranks(make_job(plan));
  EXPECT_NEAR(job.ranks[0].waiting_seconds, 0, 1e-9);
  EXPECT_NEAR(job.ranks[1].waiting_seconds, 0.002, 1e-9);
  EXPECT_NEAR(job.ranks[2].step_seconds, 0.0121, 1e-9);
}

TEST(Job, WorkThatTakesLongerOnOneRankIsListedFirst) {
  JobPlan plan{.ranks = 3, .steps = 5, .collectives_per_step = 1};
  plan.work_ns = [](std::size_t rank, auto...) { return rank == 0 ? 12 * kMs : 10 * kMs; };
  const Job job = reduce_ranks(make_job(plan));
  ASSERT_FALSE(job.imbalance.empty());
  EXPECT_EQ(job.imbalance[0].name, "slow");
  EXPECT_EQ(job.imbalance[0].rank, 0U);
  EXPECT_NEAR(job.imbalance[0].most_seconds, 0.002, 1e-6);
  EXPECT_NEAR(job.imbalance[0].median_seconds, 0, 1e-9);
}

TEST(Job, ComputeImbalanceIsTheLargestTimeOverTheMean) {
  auto summaries = make_job({.ranks = 2, .steps = 2});
  for (RankStep& step : summaries[0].steps) step.use[0] = 3 * kMs;
  for (RankStep& step : summaries[1].steps) step.use[0] = kMs;
  EXPECT_NEAR(reduce_ranks(std::move(summaries)).compute_imbalance, 0.5, 1e-9);
}

TEST(Job, TheOrderOfTheFilesDoesNotMatter) {
  JobPlan plan{.ranks = 5};
  plan.work_ns = [](std::size_t rank, auto...) { return rank == 3 ? 15 * kMs : 10 * kMs; };
  auto summaries = make_job(plan);
  const Job forward = reduce_ranks(summaries);
  std::ranges::reverse(summaries);
  const Job backward = reduce_ranks(summaries);
  EXPECT_EQ(forward.summaries, backward.summaries);
  EXPECT_EQ(forward.path, backward.path);
  EXPECT_EQ(forward.stragglers.at(0).seconds, backward.stragglers.at(0).seconds);
}

TEST(Job, OneRankAndNoRankAreJobsToo) {
  EXPECT_EQ(reduce_ranks(make_job({.ranks = 1})).steps.size(), 10U);
  EXPECT_TRUE(reduce_ranks({}).summaries.empty());
}

}  // namespace
}  // namespace mindtorch::analyze
