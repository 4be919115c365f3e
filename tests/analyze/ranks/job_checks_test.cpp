// A job reports recordings that are missing, that are damaged, or that do not fit together.
#include "mindtorch/analyze/ranks/job_checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyze/ranks/jobs.h"

namespace mindtorch::analyze {
namespace {

using Kind = JobFault::Kind;
using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

auto fault(Kind kind, std::int64_t rank) { return AllOf(Field(&JobFault::kind, kind), Field(&JobFault::rank, rank)); }

TEST(JobChecks, AMissingRankIsTold) {
  auto summaries = make_job({});
  summaries.erase(summaries.begin() + 2);
  const Job job = reduce_ranks(std::move(summaries));
  EXPECT_THAT(job.faults, Contains(fault(Kind::kMissing, 2)));
  EXPECT_EQ(job.summaries.size(), 3U);
}

TEST(JobChecks, ManyMissingRanksAreListedInOneFault) {
  auto summaries = make_job({.ranks = 64, .steps = 2});
  summaries.resize(8);
  const Job job = reduce_ranks(std::move(summaries));
  ASSERT_EQ(job.faults.size(), 1U);
  EXPECT_THAT(job.faults[0].text, HasSubstr("56 of 64"));
  EXPECT_THAT(job.faults[0].text, HasSubstr("and 36 more"));
}

TEST(JobChecks, OfTwoFilesOfARankTheOneWithMoreStepsCounts) {
  auto summaries = make_job({});
  RankSummary shorter = summaries[1];
  shorter.file = "older.mtrec";
  shorter.steps.resize(3);
  summaries.push_back(shorter);
  const Job job = reduce_ranks(std::move(summaries));
  EXPECT_THAT(job.faults, Contains(AllOf(fault(Kind::kDuplicate, 1), Field(&JobFault::file, "older.mtrec"))));
  EXPECT_EQ(job.summaries[1].steps.size(), 10U);
}

TEST(JobChecks, ARankThatDiedIsTold) {
  auto summaries = make_job({});
  summaries[3].steps.resize(6);
  summaries[3].collectives.resize(12);
  for (RankWork& row : summaries[3].work) row.seconds.resize(6);
  const Job job = reduce_ranks(std::move(summaries));
  EXPECT_THAT(job.faults, Contains(AllOf(fault(Kind::kEndedEarly, 3), Field(&JobFault::text, HasSubstr("0 to 5")))));
}

TEST(JobChecks, ARankThatBeganLaterHasDifferentSteps) {
  auto summaries = make_job({});
  summaries[0].steps.erase(summaries[0].steps.begin());
  for (RankWork& row : summaries[0].work) row.seconds.erase(row.seconds.begin());
  EXPECT_THAT(reduce_ranks(std::move(summaries)).faults, Contains(fault(Kind::kDifferentSteps, 0)));
}

TEST(JobChecks, AClockThatWasSetIsTold) {
  JobPlan plan;
  plan.offset_ns = [](std::size_t rank, std::int64_t step) { return rank == 1 && step >= 4 ? 2500 * kMs : 0; };
  EXPECT_THAT(reduce_ranks(make_job(plan)).faults, Contains(AllOf(fault(Kind::kClockJump, 1), Field(&JobFault::text, HasSubstr("2.5")))));
}

TEST(JobChecks, ARankWithoutCommonCollectivesHasNoClock) {
  auto summaries = make_job({});
  summaries[2].collectives.clear();
  const Job job = reduce_ranks(std::move(summaries));
  EXPECT_THAT(job.faults, Contains(fault(Kind::kNoClock, 2)));
  EXPECT_THAT(job.faults, Not(Contains(fault(Kind::kNoClock, 1))));
}

TEST(JobChecks, RanksThatDoNotMeetAreNotSaidToBeEquallyFast) {
  auto summaries = make_job({});
  EXPECT_THAT(reduce_ranks(summaries).faults, Not(Contains(Field(&JobFault::kind, Kind::kNotCompared))));
  for (RankSummary& summary : summaries) {
    for (RankCollective& collective : summary.collectives) collective.kind = CollectiveKind::kSend;
  }
  const Job job = reduce_ranks(summaries);
  EXPECT_FALSE(job.meets());
  EXPECT_THAT(job.faults, Contains(AllOf(fault(Kind::kNotCompared, -1), Field(&JobFault::text, HasSubstr("who waits for whom")))));
  EXPECT_THAT(job.faults, Contains(AllOf(fault(Kind::kNotCompared, -1), Field(&JobFault::text, HasSubstr("calls of send and recv")))));
  summaries.resize(1);
  EXPECT_THAT(reduce_ranks(summaries).faults, Not(Contains(Field(&JobFault::kind, Kind::kNotCompared)))) << "one rank has nobody to meet";
}

TEST(JobChecks, DamageLossesAndWhatWasLeftOutAreTold) {
  auto summaries = make_job({});
  summaries[0].damage = "it ends at byte 17";
  summaries[1].lost_events = 12;
  summaries[2].steps_left_out = 5;
  const Job job = reduce_ranks(std::move(summaries));
  EXPECT_THAT(job.faults, Contains(AllOf(fault(Kind::kDamaged, 0), Field(&JobFault::text, HasSubstr("byte 17")))));
  EXPECT_THAT(job.faults, Contains(fault(Kind::kLostEvents, 1)));
  EXPECT_THAT(job.faults, Contains(fault(Kind::kLeftOut, 2)));
}

TEST(JobChecks, CollectivesWithoutAGroupInAJobWithSeveralGroupsAreTold) {
  auto summaries = make_job({.ranks = 2});
  for (RankSummary& rank : summaries) {
    for (RankCollective& collective : rank.collectives) collective.group = 0;
    rank.identity.groups = {{"world", {0, 1}}, {"other", {0, 1}}};
  }
  EXPECT_THAT(reduce_ranks(std::move(summaries)).faults, Contains(fault(Kind::kUnknownGroups, -1)));
}

// Whatever is wrong with every tenth rank, the others are answered.
TEST(JobChecks, TheRestIsAnswered) {
  JobPlan plan{.ranks = 50, .steps = 10, .collectives_per_step = 1};
  plan.work_ns = [](std::size_t rank, auto...) { return rank == 13 ? 20 * kMs : 10 * kMs; };
  auto summaries = make_job(plan);
  std::vector<JobFault> faults;
  for (const std::size_t rank : {40, 30, 20, 10, 0}) {
    faults.push_back({Kind::kUnreadable, static_cast<std::int64_t>(rank), summaries[rank].file, "no recording"});
    summaries.erase(summaries.begin() + static_cast<std::ptrdiff_t>(rank));
  }
  const Job job = reduce_ranks(std::move(summaries), std::move(faults));
  EXPECT_EQ(job.summaries.size(), 45U);
  ASSERT_EQ(job.stragglers.size(), 1U);
  EXPECT_EQ(job.summaries[job.stragglers[0].rank].identity.rank, 13);
  EXPECT_NEAR(job.stragglers[0].seconds, 0.1, 0.001);
}

}  // namespace
}  // namespace mindtorch::analyze
