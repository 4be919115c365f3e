// The grid of busy times by rank and step.
#include "mindtorch/analyze/ranks/step_map.h"

#include <gmock/gmock.h>

#include "tests/analyze/ranks/jobs.h"

namespace mindtorch::analyze {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::SizeIs;

Job job_of(std::size_t ranks, std::int64_t steps) {
  JobPlan plan{.ranks = ranks, .steps = steps, .collectives_per_step = 1};
  plan.work_ns = [](std::size_t rank, std::int64_t step, auto) { return (rank == 5 && step == 7 ? 60 : 10) * kMs; };
  return reduce_ranks(make_job(plan));
}

TEST(StepMap, HasARowPerRankAndAColumnPerStepIfThereIsRoom) {
  const Job job = job_of(8, 10);
  const StepMap map = step_map(job, 100, 100);
  ASSERT_THAT(map.ranks, SizeIs(8));
  ASSERT_THAT(map.steps, SizeIs(10));
  for (std::size_t rank = 0; rank < 8; ++rank) {
    for (std::size_t step = 0; step < 10; ++step) EXPECT_EQ(map.longest_ns[rank * 10 + step], job.summaries[rank].steps[step].busy_ns());
  }
}

TEST(StepMap, ARankThatOthersWaitForStandsOut) {
  const Job job = job_of(8, 10);
  const StepMap map = step_map(job, 100, 100);
  EXPECT_EQ(job.summaries[4].steps[7].duration_ns, job.summaries[5].steps[7].duration_ns) << "others wait";
  EXPECT_GT(map.longest_ns[5 * 10 + 7], 2 * map.longest_ns[4 * 10 + 7]);
}

TEST(StepMap, CellsThatAreSharedHoldTheLongestStep) {
  const Job job = job_of(8, 10);
  const StepMap map = step_map(job, 3, 4);
  EXPECT_THAT(map.ranks, ElementsAre(StepMap::Range{0, 2}, StepMap::Range{3, 5}, StepMap::Range{6, 7}));
  EXPECT_THAT(map.steps, ElementsAre(StepMap::Range{0, 2}, StepMap::Range{3, 5}, StepMap::Range{6, 8}, StepMap::Range{9, 9}));
  EXPECT_EQ(map.longest_ns[1 * 4 + 2], job.summaries[5].steps[7].busy_ns());
}

TEST(StepMap, AStepThatARankDidNotRecordIsMarked) {
  std::vector<RankSummary> summaries = make_job({.ranks = 3, .steps = 4});
  summaries[1].steps.pop_back();
  for (RankWork& work : summaries[1].work) work.seconds.pop_back();
  const StepMap map = step_map(reduce_ranks(std::move(summaries)), 10, 10);
  EXPECT_EQ(map.longest_ns[1 * 4 + 3], -1);
  EXPECT_GT(map.longest_ns[0 * 4 + 3], 0);
}

TEST(StepMap, OfNothingIsEmpty) { EXPECT_THAT(step_map(Job{}, 10, 10).longest_ns, Each(-1)); }

}  // namespace
}  // namespace mindtorch::analyze
