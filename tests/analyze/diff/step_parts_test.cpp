// Step parts: each moment of a step belongs to one part.
#include "mindtorch/analyze/diff/step_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::UnorderedElementsAre;

auto work(std::string name, std::vector<double> time) {
  return AllOf(Field(&StepPart::key, PartKey{"forward", std::move(name), true}), Field(&StepPart::time, std::move(time)));
}
auto outside(std::string name, std::vector<double> time) {
  return AllOf(Field(&StepPart::key, PartKey{std::string(cause_name(Cause::kUnknown)), std::move(name)}),
               Field(&StepPart::time, std::move(time)));
}

std::vector<StepPart> parts_of(Maker& maker) {
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  return step_parts(analysis, Attribution(analysis), steps(analysis));
}

TEST(StepParts, GiveEachMomentToTheInnermostOp) {
  Maker maker;
  maker.step(1, 0, 100);
  maker.op("a", 0, 100);
  maker.op("b", 20, 30);
  maker.launch(60, 10, 1);
  EXPECT_THAT(parts_of(maker), UnorderedElementsAre(work("a", {60}), work("b", {30}), work("aclrtLaunchKernel", {10})));
}

TEST(StepParts, NameTheTimeOutsideOfOpsByTheOpBefore) {
  Maker maker;
  maker.step(1, 0, 100);
  maker.op("a", 10, 20);
  maker.op("b", 60, 10);
  EXPECT_THAT(parts_of(maker), UnorderedElementsAre(outside("before the first op", {10}), work("a", {20}), outside("after a", {30}),
                                                    work("b", {10}), outside("after b", {30})));
}

TEST(StepParts, CutWhatReachesFromOneStepIntoTheNext) {
  Maker maker;
  maker.step(1, 0, 100);
  maker.step(2, 120, 80);
  maker.op("a", 90, 50);
  EXPECT_THAT(parts_of(maker),
              UnorderedElementsAre(outside("before the first op", {90, 0}), work("a", {10, 20}), outside("after a", {0, 60})));
}

TEST(StepParts, AddUpToTheStepsOfAnyRecording) {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 30; ++trial) {
    Maker maker;
    for (int step = 0; step < 4; ++step) maker.step(step, step * 1000, 900);
    std::int64_t now = 0;
    while (now < 3900) {
      const std::int64_t length = 20 + static_cast<std::int64_t>(random() % 200);
      maker.op("outer", now, length);
      if (random() % 2 == 0) maker.op("inner", now + 5, length / 2);
      now += length + static_cast<std::int64_t>(random() % 100);
    }
    std::vector<double> sums(4, 0);
    for (const StepPart& each : parts_of(maker)) {
      for (std::size_t step = 0; step < sums.size(); ++step) sums[step] += each.time[step];
    }
    EXPECT_THAT(sums, ElementsAre(900, 900, 900, 900));
  }
}

TEST(StepParts, OfARecordingWithoutStepsAreNone) {
  Maker maker;
  maker.op("a", 0, 10);
  EXPECT_TRUE(parts_of(maker).empty());
}

}  // namespace
}  // namespace mindtorch::analyze
