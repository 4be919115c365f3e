// Data flow: which events are calls, and what becomes of allocations and their versions.
#include "mindtorch/analyze/data_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyze/flow_recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The edges of all calls, in order of time. Allocations are numbered from 1 in order of their first sight.
struct Flow {
  explicit Flow(FlowMaker& make) : recording(make.finish()), analysis(recording), flow(analysis) {}
  std::vector<FlowEdge> edges(std::size_t call) const {
    const auto found = flow.edges(flow.calls()[call]);
    return {found.begin(), found.end()};
  }
  trace::Recording recording;
  Analysis analysis;
  DataFlow flow;
};

constexpr FlowEdge taken(std::uint32_t allocation, std::uint32_t version) { return {.allocation = allocation, .version = version}; }
constexpr FlowEdge written(std::uint32_t allocation, std::uint32_t version) {
  return {.allocation = allocation, .version = version, .is_written = true};
}

TEST(DataFlow, OutermostOpsWithASchemaAreCalls) {
  FlowMaker make;
  make.node("autograd::engine::evaluate_function: X", 10, {0x100}, 50);
  make.call("aten::linear", 20, {0x100}, 20);
  make.call("aten::mm", 25, {0x200}, 10);
  make.call("aten::relu", 45, {0x200});
  const Flow flow(make);
  ASSERT_EQ(flow.flow.calls().size(), 2u);
  EXPECT_THAT(flow.edges(0), ElementsAre(taken(1, 0), taken(2, 0)));
  EXPECT_THAT(flow.edges(1), ElementsAre(taken(2, 0)));
  EXPECT_TRUE(flow.flow.has_tensors());
}

TEST(DataFlow, AnOpThatTakesATensorWithoutStorageIsNoCall) {
  FlowMaker make;
  make.call("aten::coalesce", 10, {0, 0x100}, 50);
  make.call("aten::sort", 20, {0x100}, 20);
  const Flow flow(make);
  ASSERT_EQ(flow.flow.calls().size(), 1u);
  EXPECT_EQ(flow.flow.calls()[0].start_ns, 20);
}

TEST(DataFlow, EachWriteMakesAVersion) {
  FlowMaker make;
  make.call("aten::add_", 10, {0x100, 0x200});
  make.call("aten::mul_", 20, {0x100});
  make.call("aten::sin", 30, {0x100});
  const Flow flow(make);
  EXPECT_THAT(flow.edges(0), ElementsAre(written(1, 0), taken(2, 0)));
  EXPECT_THAT(flow.edges(1), ElementsAre(written(1, 1)));
  EXPECT_THAT(flow.edges(2), ElementsAre(taken(1, 2)));
  EXPECT_EQ(flow.flow.allocations()[1].last_version, 2u);
  EXPECT_EQ(flow.flow.slots(), 1u + 3u + 1u) << "that of number 0, three versions, one version";
}

TEST(DataFlow, WhatOnlyAnAutogradNodeTakesIsTakenToBeWritten) {
  FlowMaker make;
  make.node("AddBackward0", 10, {0x100, 0x200}, 10);
  make.call("aten::neg", 12, {0x200});
  const Flow flow(make);
  ASSERT_EQ(flow.flow.calls().size(), 1u);
  EXPECT_TRUE(flow.flow.calls()[0].is_backward);
  EXPECT_THAT(flow.edges(0), ElementsAre(written(1, 0), taken(2, 0)));
}

TEST(DataFlow, ACallMakesAndFrees) {
  FlowMaker make;
  make.call("aten::mm", 10, {0x100}, 10);
  make.make(12, 0x200);
  make.call("aten::copy_", 13, {0x200, 0x100}, 2);
  make.make(16, 0x300);
  make.call("aten::fill_", 17, {0x300});
  make.free(18, 0x300);
  make.free(30, 0x200);
  const Flow flow(make);
  ASSERT_EQ(flow.flow.calls().size(), 2u) << "a release outside of ops is one of its own";
  EXPECT_THAT(flow.edges(0), ElementsAre(taken(1, 0), FlowEdge{.allocation = 2, .is_made = true, .is_written = true},
                                         FlowEdge{.allocation = 3, .is_made = true, .is_freed = true}));
  EXPECT_THAT(flow.edges(1), ElementsAre(FlowEdge{.allocation = 2, .is_freed = true}));
  EXPECT_EQ(flow.flow.allocations()[2].made_ns, 12);
  EXPECT_EQ(flow.flow.allocations()[2].freed_ns, 30);
  EXPECT_EQ(flow.flow.allocations()[2].bytes, 8);
}

TEST(DataFlow, AnAllocationEndsWhenItsAddressIsAllocatedAgain) {
  FlowMaker make;
  make.call("aten::sin", 10, {0x100});
  make.make(20, 0x100);
  make.call("aten::cos", 25, {0x100});
  make.free(30, 0x100);
  const Flow flow(make);
  EXPECT_FALSE(flow.flow.allocations()[1].made_ns);
  EXPECT_EQ(flow.flow.allocations()[1].freed_ns, 20);
  EXPECT_EQ(flow.flow.allocations()[2].made_ns, 20);
  EXPECT_EQ(flow.flow.allocations()[2].freed_ns, 30);
}

TEST(DataFlow, WhatHoldsNoTensorTakesNoPart) {
  FlowMaker make;
  make.make(12, 0x200);
  make.free(15, 0x200);
  const Flow flow(make);
  EXPECT_THAT(flow.edges(0), IsEmpty());
  EXPECT_EQ(flow.flow.allocations()[1].tensor, -1);
  EXPECT_EQ(flow.flow.allocations()[1].freed_ns, 15);
  EXPECT_FALSE(flow.flow.has_tensors());
}

TEST(DataFlow, AutogradKeepsWhatItDetachesFirst) {
  FlowMaker make;
  make.node("torch::autograd::AccumulateGrad", 10, {0x100}, 10);
  make.call("aten::detach", 12, {0x100});
  make.call("aten::detach", 30, {0x200});
  const Flow flow(make);
  ASSERT_EQ(flow.flow.owned().size(), 1u);
  EXPECT_EQ(flow.flow.owned()[0].allocation, 1u);
  EXPECT_EQ(flow.flow.owned()[0].category, trace::MemoryCategory::kGradient);
}

TEST(DataFlow, CallsOfAllThreadsAreInOrderOfTime) {
  FlowMaker make;
  const trace::TrackId other = make.builder().add_thread(200);
  make.call("aten::add_", 30, {0x100});
  const auto early = make.add({.name = "aten::mul_", .track = other, .start_ns = 10, .duration_ns = 1});
  make.inputs(early, {tensor_of({2})}, {{.tensor = 0x101, .storage = 0x100}});
  const Flow flow(make);
  ASSERT_EQ(flow.flow.calls().size(), 2u);
  EXPECT_EQ(flow.flow.calls()[0].start_ns, 10);
  EXPECT_THAT(flow.edges(1), ElementsAre(written(1, 1)));
}

}  // namespace
}  // namespace mindtorch::analyze
