// The groups of Gloo's collectives, by the threads that they ran on.
#include "mindtorch/analyze/ranks/gloo_groups.h"

#include <gmock/gmock.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

const trace::RankIdentity kRank{.rank = 1, .groups = {{"0", {0, 1, 2, 3}}, {"alone", {1}}, {"pair", {0, 1}}}};

// The groups of collectives that ran on these threads one after another.
std::vector<std::string> groups_on(const std::vector<std::int64_t>& threads, const trace::RankIdentity& identity = kRank,
                                   std::string_view name = "gloo:all_reduce") {
  Maker maker;
  std::map<std::int64_t, trace::TrackId> tracks;
  std::int64_t start = 0;
  for (const std::int64_t thread : threads) {
    const auto [at, is_new] = tracks.try_emplace(thread);
    if (is_new) at->second = maker.builder().add_thread(thread);
    maker.add({.name = name, .kind = trace::EventKind::kScope, .track = at->second, .start_ns = start += 100, .duration_ns = 50});
  }
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  std::vector<FoundCollective> collectives = find_collectives(analysis);
  name_gloo_groups(recording, identity, collectives);
  std::vector<std::string> groups;
  for (const FoundCollective& collective : collectives) groups.push_back(collective.group);
  return groups;
}

TEST(GlooGroups, TwoThreadsBelongToEachGroupInTheOrderOfTheirNumbers) {
  EXPECT_THAT(groups_on({205, 201, 202, 209}), testing::ElementsAre("pair", "0", "0", "pair"));
}

TEST(GlooGroups, OneThreadOfAGroupIsEnoughIfItIsClearWhoseItIs) {
  EXPECT_THAT(groups_on({205, 201, 202}), testing::ElementsAre("pair", "0", "0"));
  EXPECT_THAT(groups_on({207, 201}), testing::ElementsAre("pair", "0"));
}

// A rank whose groups counted so many collectives.
trace::RankIdentity counted(std::int64_t world, std::int64_t alone, std::int64_t pair, std::int64_t until = INT64_MAX) {
  trace::RankIdentity identity = kRank;
  identity.groups[0].collectives = world;
  identity.groups[1].collectives = alone;
  identity.groups[2].collectives = pair;
  identity.counted_until_ns = until;
  return identity;
}

TEST(GlooGroups, CountsTellWhereTheThreadsOfAGroupEnd) {
  EXPECT_THAT(groups_on({201, 202, 203, 203}, counted(3, 0, 1)), testing::Each("")) << "203 ran two";
  EXPECT_THAT(groups_on({201, 202, 203, 203}, counted(2, 0, 2)), testing::ElementsAre("0", "0", "pair", "pair"));
  EXPECT_THAT(groups_on({201, 202}, counted(0, 0, 2)), testing::Each("pair")) << "groups that did nothing have no threads";
  EXPECT_THAT(groups_on({201, 202, 203, 204, 204}, counted(3, 0, 2)), testing::ElementsAre("0", "0", "0", "pair", "pair"))
      << "a group may have three threads";
  EXPECT_THAT(groups_on({201, 202, 203}, counted(1, 1, 1)), testing::ElementsAre("0", "alone", "pair"));
}

TEST(GlooGroups, OnlyWhatBeganBeforeTheCountIsCounted) {
  constexpr std::int64_t kAfterTheSecond = 250;
  EXPECT_THAT(groups_on({201, 205, 201, 205, 205}, counted(1, 0, 1, kAfterTheSecond)),
              testing::ElementsAre("0", "pair", "0", "pair", "pair"));
}

TEST(GlooGroups, CountsThatDoNotFitAreNotUsed) {
  EXPECT_THAT(groups_on({201, 205}, counted(7, 0, 9)), testing::ElementsAre("0", "pair")) << "the distance of the threads tells";
  EXPECT_THAT(groups_on({201, 202}, counted(7, 0, 9)), testing::Each(""));
}

TEST(GlooGroups, WhatIsNotClearIsNotNamed) {
  EXPECT_THAT(groups_on({201, 202}), testing::Each("")) << "one of the groups did nothing, and it is not known which";
  EXPECT_THAT(groups_on({201, 202, 203}), testing::Each(""));
  EXPECT_THAT(groups_on({201, 205, 207}), testing::Each(""));
  EXPECT_THAT(groups_on({201, 205}, {.rank = 1, .groups = {{"0", {0, 1}}}}), testing::Each("")) << "there is one group only";
  EXPECT_THAT(groups_on({201, 205}, kRank, "mpi:all_reduce"), testing::Each(""));
}

}  // namespace
}  // namespace mindtorch::analyze
