// Clocks of ranks, aligned by what they have in common.
#include "mindtorch/analyze/ranks/clock_alignment.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "tests/analyze/ranks/jobs.h"
#include "tests/analyze/ranks/pipelines.h"

namespace mindtorch::analyze {
namespace {

ClockAlignment align(const std::vector<RankSummary>& job) { return align_clocks(match_collectives(job), job.size()); }

TEST(ClockAlignment, EqualClocksAreFoundEqual) {
  const ClockAlignment found = align(make_job({}));
  ASSERT_EQ(found.clocks.size(), 4U);
  for (const RankClock& clock : found.clocks) {
    ASSERT_EQ(clock.pieces.size(), 1U);
    EXPECT_EQ(clock.pieces[0].offset_ns, 0);
    EXPECT_LE(clock.pieces[0].error_ns, kMs / 10);
  }
}

// The property that the alignment promises, for offsets from a microsecond to ten minutes, any work and any network.
TEST(ClockAlignment, TheTrueOffsetLiesWithinTheErrorBoundOfTheEstimate) {
  std::mt19937_64 random(7);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); };
  for (int round = 0; round < 60; ++round) {
    std::array<std::int64_t, 6> offsets{};
    const std::int64_t scale = std::int64_t{1000} << below(30);
    for (std::int64_t& offset : offsets) offset = below(2 * scale) - scale;
    JobPlan plan{.ranks = offsets.size(), .steps = 5};
    plan.work_ns = [&](auto...) { return below(20 * kMs); };
    plan.offset_ns = [&](std::size_t rank, auto) { return offsets[rank]; };
    plan.transfer_ns = [&](auto...) { return 1 + below(kMs); };
    const ClockAlignment found = align(make_job(plan));
    for (std::size_t rank = 0; rank < offsets.size(); ++rank) {
      ASSERT_EQ(found.clocks[rank].pieces.size(), 1U);
      const ClockPiece& piece = found.clocks[rank].pieces[0];
      EXPECT_LE(std::abs(piece.offset_ns - (offsets[rank] - offsets[found.reference])), piece.error_ns) << "round " << round;
    }
  }
}

TEST(ClockAlignment, RanksThatTakeTurnsInBeingLastLeaveLittleRoom) {
  JobPlan plan{.ranks = 3, .steps = 30};
  plan.work_ns = [](std::size_t rank, std::int64_t step, auto) {
    return 10 * kMs + (static_cast<std::size_t>(step) % 3 == rank ? 5 * kMs : 0);
  };
  plan.offset_ns = [](std::size_t rank, auto) { return static_cast<std::int64_t>(rank) * 90'000 * kMs; };
  const ClockAlignment found = align(make_job(plan));
  EXPECT_LE(found.clocks[2].pieces[0].error_ns, kMs / 5);
  EXPECT_NEAR(static_cast<double>(found.clocks[2].pieces[0].offset_ns), 180'000.0 * kMs, kMs / 5);
}

TEST(ClockAlignment, AClockThatJumpsHasAPieceForEachSide) {
  JobPlan plan;
  plan.offset_ns = [](std::size_t rank, std::int64_t step) { return rank == 2 && step >= 5 ? 3000 * kMs : 0; };
  const ClockAlignment found = align(make_job(plan));
  ASSERT_EQ(found.clocks[2].pieces.size(), 2U);
  EXPECT_NEAR(static_cast<double>(found.clocks[2].pieces[1].offset_ns), 3000.0 * kMs, kMs);
  EXPECT_EQ(found.clocks[1].pieces.size(), 1U);
}

TEST(ClockAlignment, AReferenceThatJumpsIsReplaced) {
  JobPlan plan;
  plan.offset_ns = [](std::size_t rank, std::int64_t step) { return rank == 0 && step >= 5 ? 3000 * kMs : 0; };
  const ClockAlignment found = align(make_job(plan));
  EXPECT_NE(found.reference, 0U);
  EXPECT_EQ(found.clocks[0].pieces.size(), 2U);
  EXPECT_EQ(found.clocks[3].pieces.size(), 1U);
}

// Ranks 0 and 1 share a group, 1 and 2 another: rank 2 is known through rank 1.
TEST(ClockAlignment, ClocksAreConnectedThroughOtherRanks) {
  Matching matching;
  const auto add = [&](std::uint32_t a, std::int64_t offset_a, std::uint32_t b, std::int64_t offset_b, std::int64_t time) {
    matching.collectives.push_back(
        {.kind = CollectiveKind::kAllReduce,
         .parts = {{a, time + offset_a, time + offset_a + 20}, {b, time + offset_b + 10, time + offset_b + 20}}});
  };
  add(0, 0, 1, 700, 1000);
  add(1, 700, 2, -500, 2000);
  const ClockAlignment found = align_clocks(matching, 4);
  EXPECT_NEAR(static_cast<double>(found.clocks[2].pieces.at(0).offset_ns), -500, 40);
  EXPECT_LE(std::abs(found.clocks[2].pieces[0].offset_ns + 500), found.clocks[2].pieces[0].error_ns);
  EXPECT_FALSE(found.clocks[3].is_known());
}

TEST(ClockAlignment, ABroadcastTellsNothingAboutClocks) {
  Matching matching;
  matching.collectives.push_back({.kind = CollectiveKind::kBroadcast, .parts = {{0, 0, 10}, {1, 100, 110}}});
  EXPECT_FALSE(align_clocks(matching, 2).clocks[1].is_known());
}

TEST(ClockAlignment, MessagesOfBothDirectionsLimitAClockFromBothSides) {
  std::mt19937_64 random(11);
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); };
  for (int round = 0; round < 40; ++round) {
    std::array<std::int64_t, 5> offsets{};
    for (std::int64_t& offset : offsets) offset = below(1000 * kMs) - 500 * kMs;
    PipelinePlan plan{.stages = offsets.size(), .sends_wait = round % 2 == 0};
    plan.work_ns = [&](auto...) { return below(20 * kMs); };
    plan.offset_ns = [&](std::size_t stage) { return offsets[stage]; };
    plan.transfer_ns = 10 + below(kMs);
    const ClockAlignment found = align(make_pipeline(plan));
    for (std::size_t stage = 0; stage < offsets.size(); ++stage) {
      ASSERT_EQ(found.clocks[stage].pieces.size(), 1U);
      const ClockPiece& piece = found.clocks[stage].pieces[0];
      EXPECT_LE(std::abs(piece.offset_ns - (offsets[stage] - offsets[0])), piece.error_ns);
      EXPECT_LT(piece.error_ns, 100 * kMs);
      EXPECT_GT(piece.collectives, 0U);
    }
  }
}

TEST(ClockAlignment, MessagesOfOneDirectionDoNotTellTheClock) {
  const ClockAlignment found = align(make_pipeline({.goes_back = false}));
  EXPECT_TRUE(found.clocks[0].is_known());
  EXPECT_FALSE(found.clocks[1].is_known());
}

TEST(ClockAlignment, AJumpBetweenMessagesIsFound) {
  auto job = make_pipeline({.stages = 2});
  constexpr std::int64_t kJump = 2000 * kMs;
  for (RankCollective& message : job[1].collectives) {
    if (message.step < 3) continue;
    message.start_ns += kJump;
    message.end_ns += kJump;
  }
  const ClockAlignment found = align(job);
  const RankClock& clock = found.clocks[1];
  ASSERT_EQ(clock.pieces.size(), 2U);
  EXPECT_NEAR(static_cast<double>(clock.pieces[1].offset_ns - clock.pieces[0].offset_ns), kJump, 100 * kMs);
}

}  // namespace
}  // namespace mindtorch::analyze
