// What the moments of a step were spent on.
#include "mindtorch/analyze/ranks/step_use.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

std::vector<RankStep> use_of(const trace::Recording& recording) {
  const Analysis analysis(recording);
  return step_use(analysis, Phases(analysis), find_collectives(analysis));
}

std::int64_t use(const RankStep& step, TimeUse kind) { return step.use[static_cast<std::size_t>(kind)]; }

TEST(StepUse, OnTheHostACollectiveIsHiddenByOpsAndExposedBesideThem) {
  Maker maker;
  maker.step(0, 0, 1000);
  maker.op("aten::mm", 100, 200);
  maker.add({.name = "gloo:all_reduce",
             .kind = trace::EventKind::kScope,
             .track = maker.thread(),
             .start_ns = 250,
             .duration_ns = 350,
             .flags = trace::kAsync});
  maker.op("aten::add", 550, 100);
  maker.scope("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 700, 200);
  const auto steps = use_of(maker.finish());
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(use(steps[0], TimeUse::kCompute), 300);
  EXPECT_EQ(use(steps[0], TimeUse::kExposed), 250);
  EXPECT_EQ(steps[0].hidden_ns, 100);
  EXPECT_EQ(use(steps[0], TimeUse::kData), 200);
  EXPECT_EQ(use(steps[0], TimeUse::kHost), 250);
  EXPECT_EQ(std::accumulate(steps[0].use.begin(), steps[0].use.end(), std::int64_t{0}), 1000);
}

TEST(StepUse, OnADeviceIdleTimeIsThatOfTheLaunchOrOfTheHost) {
  Maker maker;
  maker.step(0, 0, 1000);
  maker.launch(100, 10, 1);
  maker.kernel("gemm", 200, 300, 1);
  maker.launch(110, 10, 2);
  maker.kernel("ncclDevKernel_AllReduce_Sum", 400, 200, 2);
  maker.launch(120, 10, 3);
  maker.kernel("Memcpy HtoD", 600, 50, 3, trace::EventKind::kMemcpy);
  const auto steps = use_of(maker.finish());
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(use(steps[0], TimeUse::kCompute), 300);
  EXPECT_EQ(use(steps[0], TimeUse::kExposed), 100);
  EXPECT_EQ(steps[0].hidden_ns, 100);
  EXPECT_EQ(use(steps[0], TimeUse::kCopy), 50);
  EXPECT_EQ(use(steps[0], TimeUse::kLaunch), 100);
  EXPECT_EQ(use(steps[0], TimeUse::kHost), 450);
}

TEST(StepUse, AddsUpToTheStepWhateverOverlaps) {
  for (std::uint32_t seed = 1; seed <= 30; ++seed) {
    for (const RankStep& step : use_of(random_recording(seed, 80))) {
      EXPECT_EQ(std::accumulate(step.use.begin(), step.use.end(), std::int64_t{0}), step.duration_ns);
      EXPECT_GE(step.hidden_ns, 0);
    }
  }
}

}  // namespace
}  // namespace mindtorch::analyze
