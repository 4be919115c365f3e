// The summary of one rank, and its limits.
#include "mindtorch/analyze/ranks/rank_summary.h"

#include <gtest/gtest.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

RankSummary summary_of(const trace::Recording& recording) { return summarize_rank(Analysis(recording), {.rank = 3}); }

trace::Recording long_recording(std::int64_t steps) {
  Maker maker;
  maker.builder().recording().clock.base_unix_ns = 1'000'000;
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::int64_t at = step * 1000;
    maker.step(step, at, 1000);
    maker.op("aten::mm", at + 100, 200);
    maker.scope("gloo:all_reduce", at + 400, 100);
    maker.scope("gloo:all_gather", at + 600, 100);
  }
  maker.memory(5, 4096);
  maker.memory(6, -4096);
  return maker.finish();
}

TEST(RankSummary, HoldsStepsCollectivesWorkAndMemory) {
  const RankSummary summary = summary_of(long_recording(3));
  EXPECT_EQ(summary.identity.rank, 3);
  EXPECT_TRUE(summary.has_step_marks);
  ASSERT_EQ(summary.steps.size(), 3U);
  EXPECT_EQ(summary.steps[1].start_ns, 1'001'000);
  ASSERT_EQ(summary.collectives.size(), 6U);
  EXPECT_EQ(summary.collectives[3].step, 1);
  EXPECT_EQ(summary.names[summary.collectives[3].name], "all_gather");
  EXPECT_EQ(summary.collectives[3].start_ns, 1'001'600);
  ASSERT_EQ(summary.memory.size(), 1U);
  EXPECT_EQ(summary.memory[0].peak_bytes, 4096);
  EXPECT_FALSE(summary.has_device_work);
}

TEST(RankSummary, OfALongRecordingKeepsTheLatestStepsAndSaysWhatIsLeftOut) {
  const RankSummary summary = summary_of(long_recording(5000));
  ASSERT_EQ(summary.steps.size(), kMostRankSteps);
  EXPECT_EQ(summary.steps.back().number, 4999);
  EXPECT_EQ(summary.steps_left_out, 5000 - kMostRankSteps);
  EXPECT_EQ(summary.collectives.size(), kMostRankCollectives);
  EXPECT_EQ(summary.collectives_left_out, 10000 - kMostRankCollectives);
  for (const RankWork& row : summary.work) EXPECT_EQ(row.seconds.size(), summary.steps.size());
}

TEST(RankSummary, StaysBelowAMegabyte) {
  const std::size_t steps = kMostRankSteps * sizeof(RankStep), collectives = kMostRankCollectives * sizeof(RankCollective);
  const std::size_t work = kMostRankWorkValues * sizeof(float) + kMostRankWork * (sizeof(RankWork) + kLongestRankName);
  EXPECT_LT(steps + collectives + work, std::size_t{1} << 20);
}

TEST(RankSummary, WithoutStepsTheRecordingIsOneStep) {
  Maker maker;
  maker.op("aten::mm", 0, 100);
  const RankSummary summary = summary_of(maker.finish());
  EXPECT_FALSE(summary.has_step_marks);
  EXPECT_EQ(summary.steps.size(), 1U);
}

TEST(RankSummary, OfAnEmptyRecordingIsEmpty) { EXPECT_TRUE(summary_of(trace::Recording{}).collectives.empty()); }

}  // namespace
}  // namespace mindtorch::analyze
