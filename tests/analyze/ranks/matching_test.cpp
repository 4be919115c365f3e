// Collectives of several ranks that are the same one.
#include "mindtorch/analyze/ranks/matching.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyze/ranks/jobs.h"
#include "tests/analyze/ranks/pipelines.h"

namespace mindtorch::analyze {
namespace {

using testing::Each;
using testing::ElementsAre;

TEST(Matching, TheNthCollectiveOfAStepIsTheSameOnAllRanks) {
  const Matching found = match_collectives(make_job({.ranks = 3, .steps = 4}));
  ASSERT_EQ(found.collectives.size(), 8U);
  for (const MatchedCollective& collective : found.collectives) {
    EXPECT_EQ(collective.parts.size(), 3U);
    EXPECT_TRUE(collective.synchronises());
  }
  EXPECT_EQ(found.collectives[3].step, 1);
  EXPECT_THAT(found.unmatched, Each(0));
}

TEST(Matching, RanksThatBeganLaterMatchInTheStepsTheyHave) {
  auto job = make_job({.ranks = 2, .steps = 4});
  job[1].steps.erase(job[1].steps.begin(), job[1].steps.begin() + 2);
  job[1].collectives.erase(job[1].collectives.begin(), job[1].collectives.begin() + 4);
  const Matching found = match_collectives(job);
  EXPECT_EQ(found.collectives[0].parts.size(), 1U);
  EXPECT_EQ(found.collectives[4].parts.size(), 2U);
  EXPECT_THAT(found.unmatched, ElementsAre(0, 0));  // no other rank recorded the steps whose collectives have no counterpart
}

TEST(Matching, ACollectiveThatOnlyOneRankHasIsCounted) {
  auto job = make_job({.ranks = 2, .steps = 4});
  job[1].collectives.pop_back();
  EXPECT_THAT(match_collectives(job).unmatched, ElementsAre(1, 0));
}

// It has its place in the order, but no rank can be compared there.
TEST(Matching, ACollectiveThatHadNotEndedOnARankTellsNothing) {
  auto job = make_job({.ranks = 3, .steps = 2});
  job[1].collectives[2].is_finished = false;
  const Matching found = match_collectives(job);
  EXPECT_TRUE(found.collectives[2].is_unfinished);
  EXPECT_FALSE(found.collectives[2].meets());
  EXPECT_EQ(found.collectives[3].parts.size(), 3U);
  EXPECT_TRUE(found.collectives[3].meets());
  EXPECT_THAT(found.unmatched, Each(0));
}

TEST(Matching, DifferentCollectivesInTheSamePlaceDoNotMatch) {
  auto job = make_job({.ranks = 2, .steps = 1, .collectives_per_step = 1});
  job[1].collectives[0].kind = CollectiveKind::kAllGather;
  const Matching found = match_collectives(job);
  EXPECT_EQ(found.collectives[0].parts.size(), 1U);
  EXPECT_EQ(found.unmatched[1], 1U);
}

TEST(Matching, NumbersInAGroupCountMoreThanTheOrder) {
  auto job = make_job({.ranks = 2, .steps = 1, .collectives_per_step = 3});
  for (RankSummary& rank : job)
    for (std::size_t k = 0; k < 3; ++k) rank.collectives[k].sequence = static_cast<std::int64_t>(k);
  job[1].collectives.erase(job[1].collectives.begin());  // its recording began a little later
  const Matching found = match_collectives(job);
  EXPECT_EQ(found.collectives[0].parts.size(), 1U);
  EXPECT_EQ(found.collectives[1].parts.size(), 2U);
  EXPECT_EQ(found.collectives[1].parts[1].start_ns, job[1].collectives[0].start_ns);
}

TEST(Matching, GroupsAreSeparate) {
  const auto group = [](std::size_t rank) { return rank < 2 ? std::string("left") : std::string("right"); };
  const Matching found = match_collectives(make_job({.ranks = 4, .steps = 1, .collectives_per_step = 1, .group = group}));
  ASSERT_EQ(found.collectives.size(), 2U);
  EXPECT_EQ(found.collectives[0].parts.size(), 2U);
  EXPECT_EQ(found.collectives[1].parts[0].rank, 2U);
}

TEST(Matching, GroupsOfOneNameAreToldApartByTheirRanks) {
  auto job = make_job({.ranks = 4, .steps = 1, .collectives_per_step = 1, .group = [](auto) { return std::string("tp"); }});
  for (std::size_t r = 0; r < 4; ++r)
    job[r].identity.groups = {{"tp", r < 2 ? std::vector<std::int64_t>{0, 1} : std::vector<std::int64_t>{2, 3}}};
  EXPECT_EQ(match_collectives(job).collectives.size(), 2U);
}

TEST(Matching, TheNthSendIsTheSameMessageAsTheNthReceive) {
  const auto job = make_pipeline({.stages = 3, .steps = 2, .microbatches = 4});
  const Matching found = match_collectives(job);
  ASSERT_EQ(found.collectives.size(), 2U * 2 * 2 * 4);  // steps, directions, neighbours, microbatches
  for (const MatchedCollective& message : found.collectives) {
    ASSERT_TRUE(message.is_message());
    EXPECT_FALSE(message.synchronises());
    EXPECT_EQ(message.sent().rank, message.sender);
    EXPECT_EQ(message.sent().end_ns, message.received().end_ns);
  }
  EXPECT_THAT(found.unmatched, Each(0));
}

TEST(Matching, MessagesWithDifferentTagsAreDifferent) {
  auto job = make_pipeline({.stages = 2, .steps = 1, .microbatches = 2, .goes_back = false});
  for (RankSummary& rank : job) {
    rank.collectives[0].tag = 7;
    rank.collectives[1].tag = 9;
  }
  std::swap(job[1].collectives[0].tag, job[1].collectives[1].tag);  // the receiver waits for the second one first
  const Matching found = match_collectives(job);
  ASSERT_EQ(found.collectives.size(), 2U);
  EXPECT_EQ(found.collectives[0].received().start_ns, job[1].collectives[1].start_ns);
}

TEST(Matching, MessagesWithoutAPeerAreLeftOutAndThoseWithoutACounterpartAreCounted) {
  auto job = make_pipeline({.stages = 2, .steps = 1, .microbatches = 3, .goes_back = false});
  job[0].collectives[2].peer = -1;
  const Matching found = match_collectives(job);
  EXPECT_EQ(found.collectives.size(), 3U);
  EXPECT_THAT(found.unmatched, ElementsAre(0, 1));
}

}  // namespace
}  // namespace mindtorch::analyze
