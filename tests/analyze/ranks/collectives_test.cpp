// Collectives in the recording of one rank.
#include "mindtorch/analyze/ranks/collectives.h"

#include <gtest/gtest.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

std::vector<FoundCollective> found_in(Maker& maker) {
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  return find_collectives(analysis);
}

TEST(Collectives, OfGlooAreScopesWithTheirTensors) {
  Maker maker;
  maker.op("c10d::allreduce_", 90, 5);
  const auto id = maker.scope("gloo:all_reduce", 100, 50);
  maker.shapes(id, {{4, 8}, {2}});
  maker.scope("forward", 0, 80);
  const auto found = found_in(maker);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "all_reduce");
  EXPECT_EQ(found[0].bytes, (32 + 2) * 4);
  EXPECT_EQ(found[0].start_ns, 100);
  EXPECT_EQ(found[0].end_ns, 150);
  EXPECT_EQ(found[0].group, "");
}

TEST(Collectives, WithoutRecordedShapesTheSizeIsUnknown) {
  Maker maker;
  maker.scope("gloo:barrier", 100, 50);
  EXPECT_EQ(found_in(maker).at(0).bytes, -1);
}

TEST(Collectives, OfADeviceCountInsteadOfTheCallsOfTheHost) {
  Maker maker;
  maker.scope("nccl:all_reduce", 10, 5);
  maker.scope("gloo:all_reduce", 15, 5);
  maker.launch(12, 2, 1);
  const auto id = maker.kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 30, 40, 1);
  maker.kernel("gemm", 20, 10, 2);
  maker.builder().add_attribute(id, "Collective name", std::string_view("allreduce"));
  maker.builder().add_attribute(id, "In msg nelems", std::int64_t{100});
  maker.builder().add_attribute(id, "Out msg nelems", std::int64_t{100});
  maker.builder().add_attribute(id, "dtype", std::string_view("BFloat16"));
  maker.builder().add_attribute(id, "Process Group Name", std::string_view("1"));
  maker.builder().add_attribute(id, "Group size", std::int64_t{8});
  maker.builder().add_attribute(id, "Seq", std::int64_t{42});
  const auto found = found_in(maker);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(found[0].bytes, 200);
  EXPECT_EQ(found[0].group, "1");
  EXPECT_EQ(found[0].group_size, 8);
  EXPECT_EQ(found[0].sequence, 42);
}

TEST(Collectives, TakeTheirParametersFromTheCallThatLaunchedThem) {
  Maker maker;
  const auto call = maker.op("record_param_comms", 0, 10);
  maker.launch(2, 2, 1);
  maker.kernel("ncclDevKernel_Generic", 30, 40, 1);
  maker.builder().add_attribute(call, "Collective name", std::string_view("_reduce_scatter_base"));
  maker.builder().add_attribute(call, "In msg nelems", std::int64_t{10});
  maker.builder().add_attribute(call, "dtype", std::string_view("Float"));
  const auto found = found_in(maker);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, CollectiveKind::kReduceScatter);
  EXPECT_EQ(found[0].bytes, 40);
}

TEST(Collectives, AreInOrderOfTheirStart) {
  Maker maker;
  maker.scope("gloo:all_gather", 300, 10);
  maker.scope("gloo:all_reduce", 100, 50);
  const auto found = found_in(maker);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "all_reduce");
}

// Its end is the end of the recording, not its own.
TEST(Collectives, ThatHadNotEndedAreMarked) {
  Maker maker;
  maker.add({.name = "gloo:all_reduce",
             .kind = EventKind::kScope,
             .track = maker.thread(),
             .start_ns = 5,
             .duration_ns = 5,
             .flags = trace::kUnfinished});
  const auto found = found_in(maker);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_FALSE(found[0].is_finished);
}

}  // namespace
}  // namespace mindtorch::analyze
