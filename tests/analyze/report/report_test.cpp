// Report: its parts together.
#include "mindtorch/analyze/report/report.h"

#include <gtest/gtest.h>

#include "mindtorch/analyze/steps.h"
#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

trace::Recording with_steps(int count, int slow) {
  Maker maker;
  for (int step = 0; step < count; ++step) {
    maker.step(step, 10'000 * step, step == slow ? 9'000 : 100);
    maker.op("aten::mm", 10'000 * step + 10, 50);
  }
  return maker.finish();
}

TEST(Report, HasTheStepsAndTheirMedian) {
  const trace::Recording recording = with_steps(20, 3);
  const Analysis analysis(recording);
  const Report report = make_report(analysis);
  EXPECT_TRUE(report.has_steps);
  EXPECT_EQ(report.step_count, 20U);
  EXPECT_EQ(report.steps.size(), 20U);
  EXPECT_EQ(report.median_step_ns, 100);
  EXPECT_EQ(report.tables.ops.front().name, "aten::mm");
  EXPECT_EQ(report.op_flame.size(), 2U);
  EXPECT_FALSE(report.timelines.empty());
}

TEST(Report, OfManyStepsTheSlowestAreKept) {
  const trace::Recording recording = with_steps(5000, 4321);
  const Analysis analysis(recording);
  const Report report = make_report(analysis, 100);
  EXPECT_EQ(report.step_count, 5000U);
  EXPECT_LE(report.steps.size(), 110U);
  EXPECT_TRUE(std::ranges::any_of(report.steps, [](const StepPhases& step) { return step.number == 4321; }));
}

// A server under the monitor never ends its first step.
TEST(Report, OfARecordingWhoseOnlyStepNeverEndedIsThatOfTheWhole) {
  Maker maker;
  maker.step(0, 0, 9'000);
  maker.op("aten::mm", 100, 50);
  trace::Recording recording = maker.finish();
  recording.metadata[std::string(kOpenStepKey)] = "0";
  const Analysis analysis(recording);
  const Report report = make_report(analysis);
  EXPECT_FALSE(report.has_steps);
  EXPECT_EQ(report.step_count, 0U);
  ASSERT_EQ(report.steps.size(), 1U);
  EXPECT_EQ(report.steps.front().duration_ns, 9'000);
  EXPECT_FALSE(report.slices.empty());
  EXPECT_EQ(report.tables.ops.front().name, "aten::mm");
  EXPECT_FALSE(report.timelines.empty());
}

TEST(Report, OfAnEmptyRecordingIsEmpty) {
  const trace::Recording recording;
  const Analysis analysis(recording);
  const Report report = make_report(analysis);
  EXPECT_FALSE(report.has_steps);
  EXPECT_TRUE(report.findings.empty());
  EXPECT_TRUE(report.tables.ops.empty());
}

}  // namespace
}  // namespace mindtorch::analyze
