// Which process of a job made a recording.
#include "mindtorch/ingest/rank_identity.h"

#include <gtest/gtest.h>

namespace mindtorch::ingest {
namespace {

trace::RankIdentity identity_of(const std::string& info) {
  trace::Recording recording;
  recording.metadata["distributedInfo"] = info;
  return rank_identity(recording);
}

TEST(RankIdentity, IsWhatTorchWrites) {
  const auto identity = identity_of(
      R"({"backend": "nccl", "rank": 3, "world_size": 8, "pg_count": 2, "pg_config": [{"pg_name": "0", "ranks": []},
          {"pg_name": "5", "pg_desc": "tp", "ranks": [2, 3]}]})");
  EXPECT_EQ(identity.rank, 3);
  EXPECT_EQ(identity.world_size, 8);
  EXPECT_EQ(identity.backend, "nccl");
  ASSERT_EQ(identity.groups.size(), 2U);
  EXPECT_EQ(identity.groups[1].name, "5");
  EXPECT_EQ(identity.groups[1].ranks, (std::vector<std::int64_t>{2, 3}));
}

TEST(RankIdentity, HoldsHowManyCollectivesAGroupCounted) {
  const trace::RankIdentity counted =
      identity_of(R"({"rank": 0, "collectives_until_ns": 12, "pg_config": [{"pg_name": "0", "ranks": [0, 1], "collectives": 5}]})");
  EXPECT_EQ(counted.groups.at(0).collectives, 5);
  EXPECT_EQ(counted.counted_until_ns, 12);
  EXPECT_EQ(identity_of(R"({"rank": 0, "pg_config": [{"pg_name": "0"}]})").groups.at(0).collectives, -1);
}

TEST(RankIdentity, ReadsRanksThatAreWrittenAsText) {
  EXPECT_EQ(identity_of(R"({"rank": 0, "pg_config": [{"pg_name": "0", "ranks": "[0, 1]"}]})").groups.at(0).ranks,
            (std::vector<std::int64_t>{0, 1}));
}

TEST(RankIdentity, IsUnknownWhereTheMetadataDoesNotTell) {
  EXPECT_EQ(rank_identity({}), trace::RankIdentity{});
  for (const char* info : {"{}", "[]", "3", "{\"rank\": \"x\"}", "{\"rank\":", ""}) EXPECT_EQ(identity_of(info).rank, -1) << info;
}

TEST(RankIdentity, KnowsTheHostWithoutARank) {
  trace::Recording recording;
  recording.metadata["host_name"] = "\"node7\"";
  EXPECT_EQ(rank_identity(recording).host, "node7");
}

}  // namespace
}  // namespace mindtorch::ingest
