// Iterations: what repeats in recordings without steps.
#include "mindtorch/analyze/iterations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;
using trace::EventKind;

Iterations find(Maker& maker) {
  const trace::Recording recording = maker.finish();
  return find_iterations(Analysis(recording), 0);
}

TEST(Iterations, StepsOfTheProgramComeFirst) {
  Maker maker;
  for (int k = 0; k < 4; ++k) {
    maker.step(k, 100 * k, 100);
    maker.scope("Optimizer.step#SGD.step", 100 * k + 50, 20);
  }
  const Iterations found = find(maker);
  EXPECT_EQ(found.origin, Iterations::Origin::kSteps);
  EXPECT_EQ(found.steps.size(), 4U);
}

TEST(Iterations, BatchesOfServingEnginesAreSteps) {
  EXPECT_EQ(engine_stage("execute_context_2(300)_generation_0(0)"), "prefill");
  EXPECT_EQ(engine_stage("execute_40_context_0(sq0sk0sqsq0sqsk0)_generation_40(sq40sk900sqsq40sqsk900)"), "decode");
  EXPECT_EQ(engine_stage("execute_context_1(30)_generation_7(7)"), "mixed");
  EXPECT_EQ(engine_stage("step[DECODE bs=32]"), "decode");
  EXPECT_EQ(engine_stage("step[EXTEND bs=4 toks=1024]"), "prefill");
  EXPECT_EQ(engine_stage("step[TARGET_VERIFY bs=4]"), "target_verify");
  EXPECT_EQ(engine_stage("execute_model"), "");
  Maker maker;
  maker.scope("step[EXTEND bs=4 toks=1024]", 0, 100);
  maker.scope("step[DECODE bs=32]", 150, 20);
  const Iterations found = find(maker);
  EXPECT_EQ(found.origin, Iterations::Origin::kEngine);
  EXPECT_EQ(found.unit, "iteration");
  EXPECT_THAT(found.stages, ElementsAre("prefill", "decode"));
  EXPECT_EQ(found.steps[1].start_ns, 150);
}

TEST(Iterations, AScopeThatFillsTheTimeIsAStep) {
  Maker maker;
  for (int k = 0; k < 5; ++k) {
    maker.scope("request", 100 * k, 80);
    maker.scope("inner", 100 * k + 10, 20);
    maker.op("aten::mm", 100 * k + 15, 10);
  }
  const Iterations found = find(maker);
  EXPECT_EQ(found.origin, Iterations::Origin::kScopes);
  EXPECT_EQ(found.unit, "request");
  EXPECT_EQ(found.steps.size(), 5U);
  EXPECT_EQ(found.steps[2].events, 0) << "events are counted by Phases";
}

TEST(Iterations, OptimizersEndSteps) {
  Maker maker;
  for (int k = 0; k < 5; ++k) {
    maker.op("aten::mm", 100 * k, 50);
    maker.scope("Optimizer.step#SGD.step", 100 * k + 60, 30);
  }
  const Iterations found = find(maker);
  EXPECT_EQ(found.origin, Iterations::Origin::kOptimizer);
  ASSERT_EQ(found.steps.size(), 4U) << "before the first one, the program starts";
  EXPECT_EQ(found.steps[0].start_ns, 90);
  EXPECT_EQ(found.steps[0].duration_ns, 100);
}

TEST(Iterations, OutermostCallsOfAModuleAreSteps) {
  Maker maker;
  for (int k = 0; k < 4; ++k) {
    maker.op("nn.Module: Net_0", 100 * k, 80, EventKind::kModule);
    maker.op("nn.Module: Linear_0", 100 * k + 10, 20, EventKind::kModule);
  }
  const Iterations found = find(maker);
  EXPECT_EQ(found.origin, Iterations::Origin::kModules);
  EXPECT_EQ(found.unit, "call of nn.Module: Net_0");
  EXPECT_EQ(found.steps.size(), 4U);
}

TEST(Iterations, NothingRepeatsInARecordingOfOneCall) {
  Maker maker;
  maker.scope("main", 0, 100);
  maker.op("aten::mm", 10, 20);
  EXPECT_EQ(find(maker).origin, Iterations::Origin::kNone);
}

}  // namespace
}  // namespace mindtorch::analyze
