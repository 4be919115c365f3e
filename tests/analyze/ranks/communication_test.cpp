// Collectives by name, group and size.
#include "mindtorch/analyze/ranks/communication.h"

#include <gtest/gtest.h>

#include "tests/analyze/ranks/jobs.h"

namespace mindtorch::analyze {
namespace {

TEST(Communication, SeparatesTheTransferFromTheWaiting) {
  JobPlan plan{.ranks = 2, .steps = 10, .collectives_per_step = 1};
  plan.work_ns = [](std::size_t rank, auto...) { return rank == 1 ? 14 * kMs : 10 * kMs; };
  plan.transfer_ns = [](auto...) { return kMs; };
  const auto rows = communication(match_collectives(make_job(plan)));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].name, "all_reduce");
  EXPECT_EQ(rows[0].count, 10U);
  EXPECT_EQ(rows[0].ranks, 2U);
  EXPECT_NEAR(rows[0].transfer_seconds, 0.010, 1e-9);
  EXPECT_NEAR(rows[0].waiting_seconds, 0.020, 1e-9);  // one of two ranks waits for 4 ms, ten times
  EXPECT_NEAR(rows[0].bandwidth, 4096 / 0.001, 1e-3);
  EXPECT_NEAR(rows[0].bus_bandwidth, 4096 / 0.001, 1e-3);  // two ranks: 2 * (2 - 1) / 2
}

TEST(Communication, SizesAreSeparateAndThoseWithMostTimeComeFirst) {
  auto job = make_job({.ranks = 2, .steps = 3, .collectives_per_step = 2});
  for (RankSummary& rank : job) {
    for (std::size_t k = 0; k < rank.collectives.size(); k += 2) {
      rank.collectives[k].bytes = -1;
      rank.collectives[k].end_ns += kMs / 100;
    }
  }
  const auto rows = communication(match_collectives(job));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].bytes, -1);
  EXPECT_EQ(rows[0].bandwidth, 0);
  EXPECT_EQ(rows[1].bytes, 4096);
}

TEST(Communication, ThereIsNoneWithoutCollectives) { EXPECT_TRUE(communication({}).empty()); }

}  // namespace
}  // namespace mindtorch::analyze
