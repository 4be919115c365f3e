// Kinds of collectives by the names that libraries give them.
#include "mindtorch/analyze/ranks/collective_kind.h"

#include <gtest/gtest.h>

namespace mindtorch::analyze {
namespace {

TEST(CollectiveKind, IsKnownByTheNamesOfAllLibraries) {
  for (const char* name :
       {"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ncclKernel_AllReduce_RING_LL_Sum_float",
        "gloo:all_reduce", "allreduce_coalesced", "hcom_allReduce_", "allreduce"})
    EXPECT_EQ(collective_kind(name), CollectiveKind::kAllReduce) << name;
  EXPECT_EQ(collective_kind("_allgather_base"), CollectiveKind::kAllGather);
  EXPECT_EQ(collective_kind("gloo:all_gather"), CollectiveKind::kAllGather);
  EXPECT_EQ(collective_kind("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL"), CollectiveKind::kReduceScatter);
  EXPECT_EQ(collective_kind("_reduce_scatter_base"), CollectiveKind::kReduceScatter);
  EXPECT_EQ(collective_kind("gloo:reduce"), CollectiveKind::kReduce);
  EXPECT_EQ(collective_kind("gloo:gather"), CollectiveKind::kGather);
  EXPECT_EQ(collective_kind("gloo:scatter"), CollectiveKind::kScatter);
  EXPECT_EQ(collective_kind("all_to_allv"), CollectiveKind::kAllToAll);
  EXPECT_EQ(collective_kind("gloo:barrier"), CollectiveKind::kBarrier);
  EXPECT_EQ(collective_kind("ncclDevKernel_SendRecv"), CollectiveKind::kSend);
  EXPECT_EQ(collective_kind("gloo:recv"), CollectiveKind::kReceive);
  EXPECT_EQ(collective_kind("aten::mm"), CollectiveKind::kOther);
}

TEST(CollectiveKind, RanksWaitForEachOtherOnlyWhereAllContributeToAll) {
  EXPECT_TRUE(is_synchronising(CollectiveKind::kAllReduce));
  EXPECT_TRUE(is_synchronising(CollectiveKind::kReduceScatter));
  EXPECT_FALSE(is_synchronising(CollectiveKind::kBroadcast));
  EXPECT_FALSE(is_synchronising(CollectiveKind::kSend));
}

TEST(CollectiveKind, BusBandwidthCountsWhatEachLinkCarries) {
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::kAllReduce, 4), 1.5);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::kAllGather, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::kBroadcast, 4), 1);
  EXPECT_DOUBLE_EQ(bus_factor(CollectiveKind::kAllReduce, 1), 1);
}

}  // namespace
}  // namespace mindtorch::analyze
