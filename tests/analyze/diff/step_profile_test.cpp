// StepProfile: what each kind of work cost in each step.
#include "mindtorch/analyze/diff/step_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const WorkRow& row_named(const StepProfile& profile, std::string_view name) {
  for (const WorkRow& row : profile.rows) {
    if (row.key.name == name) return row;
  }
  throw std::out_of_range(std::string(name));
}

// Two steps; "a" contains "b" in each, and launches a kernel that runs after the first step has ended.
Maker two_steps() {
  Maker maker;
  maker.step(1, 0, 100);
  maker.step(2, 100, 200);
  maker.op("a", 10, 50);
  maker.op("b", 20, 30);
  maker.launch(55, 2, 1);
  maker.kernel("k", 150, 40, 1);
  maker.op("a", 110, 80);
  maker.op("b", 120, 10);
  return maker;
}

TEST(StepProfile, GivesSelfTimesAndCallsPerStep) {
  const trace::Recording recording = two_steps().finish();
  const StepProfile profile = step_profile(Analysis(recording));
  EXPECT_TRUE(profile.has_steps);
  EXPECT_THAT(profile.step_time, ElementsAre(100, 200));
  EXPECT_THAT(row_named(profile, "a").time, ElementsAre(18, 70));
  EXPECT_THAT(row_named(profile, "b").time, ElementsAre(30, 10));
  EXPECT_THAT(row_named(profile, "b").calls, ElementsAre(1, 1));
  EXPECT_EQ(row_named(profile, "b").parent, "a");
}

TEST(StepProfile, CountsDeviceWorkInTheStepThatLaunchedIt) {
  const trace::Recording recording = two_steps().finish();
  const StepProfile profile = step_profile(Analysis(recording));
  const WorkRow& kernel = row_named(profile, "k");
  EXPECT_EQ(kernel.key.timeline, trace::DeviceType::kNpu);
  EXPECT_THAT(kernel.time, ElementsAre(40, 0));
  EXPECT_THAT(profile.device_time, ElementsAre(40, 0));
  EXPECT_THAT(row_named(profile, "a").launched, ElementsAre(40, 0));
}

TEST(StepProfile, OfARecordingWithoutStepsIsOneStep) {
  Maker maker;
  maker.op("a", 10, 50);
  maker.op("a", 70, 10);
  maker.builder().recording().clock.end_ns = 100;
  const trace::Recording recording = maker.finish();
  const StepProfile profile = step_profile(Analysis(recording));
  EXPECT_FALSE(profile.has_steps);
  EXPECT_THAT(profile.step_time, ElementsAre(100));
  EXPECT_THAT(row_named(profile, "a").time, ElementsAre(60));
}

TEST(StepProfile, TellsShapesApartWhenAsked) {
  Maker maker;
  maker.shapes(maker.op("mm", 0, 10), {{2, 3}});
  maker.shapes(maker.op("mm", 20, 10), {{4, 3}});
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_EQ(step_profile(analysis).rows.size(), 1u);
  const StepProfile by_shape = step_profile(analysis, {.by_shape = true});
  ASSERT_EQ(by_shape.rows.size(), 2u);
  EXPECT_NE(by_shape.rows[0].key.shapes, by_shape.rows[1].key.shapes);
}

TEST(StepProfile, TellsModulesApartWhenAsked) {
  Maker maker;
  maker.op("first", 0, 100, trace::EventKind::kModule);
  maker.op("second", 100, 100, trace::EventKind::kModule);
  maker.op("mm", 10, 10);
  maker.op("mm", 110, 10);
  maker.op("mm", 210, 10);
  const trace::Recording recording = maker.finish();
  std::vector<std::string> modules;
  for (const WorkRow& row : step_profile(Analysis(recording), {.by_module = true}).rows) modules.push_back(row.key.module);
  EXPECT_THAT(modules, ElementsAre("", "first", "second"));
}

TEST(StepProfile, KnowsThePeakOfEachDevice) {
  Maker maker;
  maker.op("a", 0, 100);
  maker.memory(10, 300);
  maker.memory(20, -100);
  const trace::Recording recording = maker.finish();
  const StepProfile profile = step_profile(Analysis(recording));
  ASSERT_EQ(profile.peaks.size(), 1u);
  EXPECT_EQ(profile.peaks[0].bytes, 300);
  EXPECT_THAT(row_named(profile, "a").memory, ElementsAre(200));
}

TEST(StepProfile, OfAnEmptyRecordingHasNoRows) {
  const trace::Recording recording;
  EXPECT_THAT(step_profile(Analysis(recording)).rows, IsEmpty());
}

}  // namespace
}  // namespace mindtorch::analyze
