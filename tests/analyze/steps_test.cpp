// Steps: from step events, else from marks.
#include "mindtorch/analyze/steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Steps, AreTheStepEventsWithWhatStartsInThem) {
  Maker maker;
  maker.step(12, 200, 100);
  maker.step(11, 100, 100);
  maker.op("before", 50, 10);
  maker.op("a", 110, 10);
  maker.launch(112, 2, 1);
  maker.kernel("k", 500, 40, 1);
  maker.op("b", 200, 10);
  maker.op("after", 300, 10);
  maker.builder().add_step(130, 99);
  const trace::Recording recording = maker.finish();
  EXPECT_THAT(steps(Analysis(recording)), ElementsAre(Step{11, 100, 100, 2, 40}, Step{12, 200, 100, 1, 0}));
}

TEST(Steps, HaveTheirNumberFromTheirFieldAndElseFromTheMarks) {
  Maker maker;
  maker.add(
      {.name = "ProfilerStep#3", .kind = trace::EventKind::kStep, .start_ns = 0, .duration_ns = 10, .link = trace::make_step_link(7)});
  maker.add({.name = "epoch #4", .kind = trace::EventKind::kStep, .start_ns = 20, .duration_ns = 10});
  maker.builder().add_step(15, 8);
  const trace::Recording recording = maker.finish();
  EXPECT_THAT(steps(Analysis(recording)), ElementsAre(Step{7, 0, 10, 0, 0}, Step{8, 20, 10, 0, 0}));
}

TEST(Steps, AreTheTimesBetweenMarksWhereThereAreNoEvents) {
  Maker maker;
  maker.op("a", 10, 5);
  maker.op("b", 60, 5);
  maker.builder().add_step(50, 1);
  maker.builder().add_step(80, 2);
  maker.builder().recording().clock.end_ns = 100;
  const trace::Recording recording = maker.finish();
  EXPECT_THAT(steps(Analysis(recording)), ElementsAre(Step{0, 0, 50, 1, 0}, Step{1, 50, 30, 1, 0}, Step{2, 80, 20, 0, 0}));
}

TEST(Steps, AMarkWithTheNumberOfTheStepBeforeItBeginsNoOther) {
  Maker maker;
  maker.op("a", 10, 5);
  maker.builder().add_step(5, 0);
  maker.builder().recording().clock.end_ns = 100;
  const trace::Recording recording = maker.finish();
  EXPECT_THAT(steps(Analysis(recording)), ElementsAre(Step{0, 0, 100, 1, 0}));
}

TEST(Steps, AStepThatHadNotEndedIsLeftOutIfTheRecordingNamesIt) {
  Maker maker;
  maker.step(1, 100, 100);
  maker.step(2, 200, 700);
  trace::Recording recording = maker.finish();
  recording.metadata[std::string(kOpenStepKey)] = "2";
  EXPECT_THAT(steps(Analysis(recording)), ElementsAre(Step{1, 100, 100, 0, 0}));
  recording.metadata[std::string(kOpenStepKey)] = "7";
  EXPECT_EQ(steps(Analysis(recording)).size(), 2u);
}

TEST(Steps, OfTwoRowsThatOverlapOneCountsAndNeighboursThatTouchBothDo) {
  Maker twice;
  for (int k = 0; k < 3; ++k) {
    twice.step(k, 100 * k, 100);           // of the recorder
    twice.step(k + 1, 100 * k + 20, 100);  // of the program
  }
  const trace::Recording of_both = twice.finish();
  const std::vector<Step> found = steps(Analysis(of_both));
  ASSERT_EQ(found.size(), 3u);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(found[static_cast<std::size_t>(k)].start_ns, 100 * k);
  Maker rounded;
  for (int k = 0; k < 3; ++k) rounded.step(k, 1000 * k, 1001);
  const trace::Recording recording = rounded.finish();
  EXPECT_EQ(steps(Analysis(recording)).size(), 3u);
}

TEST(Steps, ARecordingWithoutStepsHasNone) {
  Maker maker;
  maker.op("a", 10, 5);
  const trace::Recording recording = maker.finish();
  EXPECT_THAT(steps(Analysis(recording)), IsEmpty());
}

}  // namespace
}  // namespace mindtorch::analyze
