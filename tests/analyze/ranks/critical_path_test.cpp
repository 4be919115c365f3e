// The chain of work and collectives that determines how long a job takes.
#include "mindtorch/analyze/ranks/critical_path.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/analyze/ranks/jobs.h"
#include "tests/analyze/ranks/pipelines.h"

namespace mindtorch::analyze {
namespace {

std::vector<PathPiece> path_of(const std::vector<RankSummary>& job) {
  const Matching matching = match_collectives(job);
  return critical_path(job, matching, align_clocks(matching, job.size()));
}

TEST(CriticalPath, GoesThroughTheRankThatEachCollectiveWaitedFor) {
  JobPlan plan{.ranks = 3, .steps = 6, .collectives_per_step = 1};
  plan.work_ns = [](std::size_t rank, std::int64_t step, auto) { return static_cast<std::size_t>(step) % 3 == rank ? 30 * kMs : 10 * kMs; };
  const std::vector<PathPiece> path = path_of(make_job(plan));
  ASSERT_EQ(path.size(), 6U);
  for (std::size_t step = 0; step < 6; ++step) {
    EXPECT_EQ(path[step].rank, step % 3);
    EXPECT_EQ(path[step].work_end_ns - path[step].work_start_ns, 30 * kMs);
    EXPECT_EQ(path[step].late_ns, 20 * kMs);
  }
}

// Whatever the ranks do, the work and the transfers on the path add up to the time from the first step to the last collective.
TEST(CriticalPath, AddsUpToTheTimeOfTheJob) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    JobPlan plan{.ranks = 4, .steps = 8, .collectives_per_step = 3};
    plan.work_ns = [&](auto...) { return static_cast<std::int64_t>(random() % (20 * kMs)); };
    plan.offset_ns = [](std::size_t rank, auto) { return static_cast<std::int64_t>(rank) * 1000 * kMs; };
    const auto job = make_job(plan);
    std::int64_t sum = 0;
    for (const PathPiece& piece : path_of(job)) sum += piece.end_ns - piece.work_start_ns;
    EXPECT_EQ(sum, job[0].collectives.back().end_ns - job[0].steps[0].start_ns);
  }
}

// The second collective of a step is entered before the first is over: the time before both counts once.
TEST(CriticalPath, CollectivesThatOverlapCountOnce) {
  Matching matching;
  std::vector<RankSummary> ranks(2);
  for (std::int64_t step = 0; step < 3; ++step) {
    const std::int64_t t = step * 1000;
    for (const std::int64_t enter : {100, 120}) {
      matching.collectives.push_back(
          {.kind = CollectiveKind::kAllReduce, .step = step, .parts = {{0, t + enter, t + 700}, {1, t + enter + 500, t + 700}}});
    }
  }
  const std::vector<PathPiece> path = critical_path(ranks, matching, align_clocks(matching, ranks.size()));
  ASSERT_EQ(path.size(), 3U);
  EXPECT_EQ(path[2].rank, 1U);
  EXPECT_EQ(path[2].late_ns, 500);
}

// The fast rank enters both collectives at once. The slow rank enters the second one after it has left the first.
TEST(CriticalPath, WaitingForSeveralCollectivesAtOnceCountsOnce) {
  Matching matching;
  const std::vector<RankSummary> ranks(2);
  for (std::int64_t step = 0; step < 3; ++step) {
    const std::int64_t t = step * 1000;
    matching.collectives.push_back(
        {.kind = CollectiveKind::kAllReduce, .step = step, .parts = {{0, t + 100, t + 610}, {1, t + 600, t + 610}}});
    matching.collectives.push_back(
        {.kind = CollectiveKind::kAllReduce, .step = step, .parts = {{0, t + 110, t + 650}, {1, t + 640, t + 650}}});
  }
  std::int64_t late = 0;
  for (const PathPiece& piece : critical_path(ranks, matching, align_clocks(matching, ranks.size())))
    late += matching.collectives[piece.collective].step > 0 ? piece.late_ns : 0;
  EXPECT_EQ(late, 2 * (500 + 30));
}

std::int64_t late_of(const std::vector<PathPiece>& path, std::uint32_t rank) {
  std::int64_t late = 0;
  for (const PathPiece& piece : path) late += piece.rank == rank ? piece.late_ns : 0;
  return late;
}

// Whether senders wait for receivers or not, and wherever the slow stage is.
TEST(CriticalPath, GoesThroughTheSlowStageOfAPipeline) {
  for (const bool sends_wait : {true, false}) {
    for (std::size_t slow = 0; slow < 4; ++slow) {
      PipelinePlan plan{.sends_wait = sends_wait};
      plan.work_ns = [&](std::size_t stage, auto) { return stage == slow ? 15 * kMs : 10 * kMs; };
      plan.offset_ns = [](std::size_t stage) { return static_cast<std::int64_t>(stage) * 3000 * kMs; };
      const std::vector<PathPiece> path = path_of(make_pipeline(plan));
      const double lost = static_cast<double>(plan.steps * plan.microbatches * 2 * 5 * kMs);
      for (std::uint32_t stage = 0; stage < 4; ++stage)
        EXPECT_NEAR(static_cast<double>(late_of(path, stage)), stage == slow ? lost : 0, 0.1 * lost) << "of stage " << stage;
    }
  }
}

TEST(CriticalPath, StagesThatAreEquallyFastLoseNothing) {
  const std::vector<PathPiece> path = path_of(make_pipeline({}));
  EXPECT_FALSE(path.empty());
  for (const PathPiece& piece : path) EXPECT_EQ(piece.late_ns, 0);
}

TEST(CriticalPath, IsEmptyWithoutCollectivesInCommon) {
  EXPECT_TRUE(path_of(make_job({.ranks = 1})).empty());
  EXPECT_TRUE(path_of({}).empty());
}

}  // namespace
}  // namespace mindtorch::analyze
