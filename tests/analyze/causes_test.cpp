// Causes: what events stand for, by their name, their kind and what is around them.
#include "mindtorch/analyze/causes.h"

#include <gtest/gtest.h>

#include "mindtorch/analyze/analysis.h"
#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

std::uint64_t with_sequence(std::int64_t number) { return trace::make_sequence_link(number); }

TEST(Causes, EachHasAName) {
  for (std::size_t cause = 0; cause < kCauses; ++cause) EXPECT_FALSE(cause_name(static_cast<Cause>(cause)).empty());
  EXPECT_EQ(cause_name(Cause::kLoading), "data loading");
}

TEST(Causes, ForwardAndBackwardInsideOfAClosureAreNotTheOptimizer) {
  Maker maker;
  const auto step = maker.scope("Optimizer.step#LBFGS.step", 0, 1000);
  const auto linear = maker.op("aten::linear", 100, 200, EventKind::kOp, with_sequence(4));
  const auto addmm = maker.op("aten::addmm", 110, 100);
  const auto backward = maker.op("AddmmBackward0", 400, 200, EventKind::kBackward);
  const auto own = maker.op("aten::add_", 700, 100);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const EventCauses causes(recording, analysis.tree());
  const auto of = [&](Maker::Id id) { return causes.of(maker.new_index()[id]); };
  EXPECT_EQ(of(linear), Cause::kForward);
  EXPECT_EQ(of(addmm), Cause::kForward) << "what a forward op calls is forward";
  EXPECT_EQ(of(backward), Cause::kBackward);
  EXPECT_EQ(of(own), Cause::kOptimizer);
  EXPECT_EQ(causes.begins_at(maker.new_index()[step]), 600) << "the optimizer begins when the closure has returned";
}

TEST(Causes, AnOptimizerWithoutClosureBeginsAtOnce) {
  Maker maker;
  const auto step = maker.scope("Optimizer.step#SGD.step", 50, 100);
  maker.op("aten::add_", 60, 50);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const EventCauses causes(recording, analysis.tree());
  EXPECT_EQ(causes.begins_at(maker.new_index()[step]), 50);
}

TEST(Causes, CompilingIsToldByDynamosScopesAndLoadingByTheLoaders) {
  Maker maker;
  const auto compile = maker.scope("_compile.compile_inner (dynamo_timed)", 0, 100);
  const auto inside = maker.op("aten::mm", 10, 20);
  const auto item = maker.scope("Dataset.__getitem__(Images)", 200, 50);
  const auto copy = maker.op("aten::copy_", 210, 10);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const EventCauses causes(recording, analysis.tree());
  const auto of = [&](Maker::Id id) { return causes.of(maker.new_index()[id]); };
  EXPECT_EQ(of(compile), Cause::kCompiling);
  EXPECT_EQ(of(inside), Cause::kCompiling);
  EXPECT_EQ(of(item), Cause::kLoading);
  EXPECT_EQ(of(copy), Cause::kLoading) << "what a loader copies is loading";
}

TEST(Causes, ReadingANumberWaitsOnlyIfThereIsADevice) {
  for (const bool with_device : {false, true}) {
    Maker maker;
    const auto item = maker.op("aten::item", 0, 100);
    if (with_device) maker.kernel("mm", 0, 50, 1);
    const trace::Recording recording = maker.finish();
    const Analysis analysis(recording);
    const EventCauses causes(recording, analysis.tree());
    EXPECT_EQ(causes.of(maker.new_index()[item]), with_device ? Cause::kDeviceWait : Cause::kForward);
  }
}

}  // namespace
}  // namespace mindtorch::analyze
