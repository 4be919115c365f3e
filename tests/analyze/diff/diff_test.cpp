// Diff: a slower op is found among noise, and equal runs show nothing.
#include "mindtorch/analyze/diff/diff.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/analyze/diff/runs.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;
using testing::Pair;

std::map<std::string, WorkChange> changes(const Diff& diff) {
  std::map<std::string, WorkChange> found;
  for (const DiffRow& row : diff.rows) {
    if (row.change != WorkChange::kNone) found.emplace(row.key.name, row.change);
  }
  return found;
}

StepProfile profile_of(std::vector<WorkRow> rows) {
  std::ranges::sort(rows, {}, &WorkRow::key);
  const std::size_t steps = rows.front().time.size();
  return {.has_steps = true,
          .step_time = std::vector<double>(steps, 100),
          .device_time = std::vector<double>(steps, 0),
          .rows = std::move(rows)};
}

TEST(Diff, FindsAnOpThatIsThreePercentSlowerInThirtySteps) {
  std::mt19937_64 random(11);
  int found = 0;
  for (int trial = 0; trial < 50; ++trial) {
    const StepProfile before = noisy_run(random, 30, {.spread = 0.01}), after = noisy_run(random, 30, {.spread = 0.01}, 1.03);
    found += changes(diff_runs(before, after)) == std::map<std::string, WorkChange>{{"op07", WorkChange::kSlower}};
  }
  EXPECT_GE(found, 48);
}

TEST(Diff, FindsNothingInEqualRuns) {
  std::mt19937_64 random(12);
  int differing = 0;
  for (int trial = 0; trial < 200; ++trial) {
    const Noise noise{.spread = 0.05, .correlation = 0.3, .outlier_share = 0.05};
    differing += !changes(diff_runs(noisy_run(random, 30, noise), noisy_run(random, 30, noise))).empty();
  }
  EXPECT_LE(differing, 4);
}

TEST(Diff, ListsWorkThatIsNewAndWorkThatIsGone) {
  const StepProfile before = profile_of({row_of("kept", std::vector<double>(20, 10)), row_of("old", std::vector<double>(20, 10))});
  WorkRow added = row_of("added", std::vector<double>(20, 10));
  added.calls.assign(20, 3);  // other calls than "old", so that it is not taken for the same work under another name
  const StepProfile after = profile_of({row_of("kept", std::vector<double>(20, 10)), added});
  EXPECT_THAT(changes(diff_runs(before, after)), ElementsAre(Pair("added", WorkChange::kNew), Pair("old", WorkChange::kGone)));
}

TEST(Diff, TakesTheOnlyNewWorkWithTheSameCallsForTheGoneOneRenamed) {
  const StepProfile before = profile_of({row_of("volta_sgemm", std::vector<double>(20, 10))});
  const StepProfile after = profile_of({row_of("hopper_sgemm", std::vector<double>(20, 5))});
  const Diff diff = diff_runs(before, after);
  ASSERT_EQ(diff.rows.size(), 1u);
  EXPECT_EQ(diff.rows[0].change, WorkChange::kRenamed);
  EXPECT_EQ(diff.rows[0].other_name, "volta_sgemm");
  EXPECT_EQ(diff.rows[0].time.change, -5);
}

TEST(Diff, TellsAnOpThatMovedToAnotherDevice) {
  WorkRow on_cpu = row_of("mm", std::vector<double>(20, 10)), on_npu = on_cpu;
  on_cpu.key.op_device = trace::DeviceType::kCpu;
  on_npu.key.op_device = trace::DeviceType::kNpu;
  EXPECT_THAT(changes(diff_runs(profile_of({on_cpu}), profile_of({on_npu}))), ElementsAre(Pair("mm", WorkChange::kMoved)));
}

TEST(Diff, TellsMoreCallsThatTakeNoMoreTime) {
  WorkRow before = row_of("view", std::vector<double>(20, 0)), after = before;
  after.calls.assign(20, 2);
  EXPECT_THAT(changes(diff_runs(profile_of({before}), profile_of({after}))), ElementsAre(Pair("view", WorkChange::kCalls)));
}

TEST(Diff, PutsTheLargestChangeFirst) {
  const StepProfile before = profile_of({row_of("large", std::vector<double>(20, 1000)), row_of("small", std::vector<double>(20, 10))});
  const StepProfile after = profile_of({row_of("large", std::vector<double>(20, 1100)), row_of("small", std::vector<double>(20, 20))});
  EXPECT_EQ(diff_runs(before, after).rows.front().key.name, "large");
}

// A step of a Python function and an op.
StepProfile profile_with_parts(double function, std::vector<double> op) {
  StepProfile profile{.has_steps = true};
  const std::size_t steps = op.size();
  profile.device_time.assign(steps, 0);
  for (const double time : op) profile.step_time.push_back(time + function);
  profile.parts = {{{"Python", "augment"}, std::vector<double>(steps, function)}, {{"forward", "aten::mm", true}, std::move(op)}};
  return profile;
}

TEST(Diff, ListsPartsThatAddUpToTheChangeOfTheMeanStep) {
  std::mt19937_64 random(13);
  const StepProfile before = profile_with_parts(5, noisy_values(random, 30, 100, {})),
                    after = profile_with_parts(15, noisy_values(random, 30, 100, {}));
  const Diff diff = diff_runs(before, after);
  ASSERT_EQ(diff.parts.size(), 2u);
  EXPECT_EQ(diff.parts[0].key.name, "augment");
  EXPECT_EQ(diff.parts[0].change, WorkChange::kSlower);
  EXPECT_EQ(diff.parts[1].change, WorkChange::kNone);
  EXPECT_DOUBLE_EQ(diff.explained_ns(), 10);
  EXPECT_NEAR(diff.parts[0].mean_change() + diff.parts[1].mean_change() + diff.unusual_change(), diff.mean_change(), 1e-9);
}

TEST(Diff, KeepsWhatAFewSlowStepsAddApartFromTheParts) {
  std::vector<double> quiet(30, 100), disturbed(30, 100);
  disturbed[7] = disturbed[20] = 1600;
  const Diff diff = diff_runs(profile_with_parts(5, quiet), profile_with_parts(15, disturbed));
  EXPECT_DOUBLE_EQ(diff.mean_change(), 110);
  EXPECT_DOUBLE_EQ(diff.unusual_change(), 100);
  EXPECT_DOUBLE_EQ(diff.explained_ns(), 10);
}

TEST(Diff, TellsWhatElseChangedOfAPart) {
  WorkRow before = row_of("aten::mm", std::vector<double>(20, 10)), after = row_of("aten::mm", std::vector<double>(20, 20));
  before.arguments.types = {{"float32", 200}};
  after.arguments.types = {{"float64", 400}};
  after.calls.assign(20, 2);
  StepProfile first = profile_of({before}), second = profile_of({after});
  first.parts = {{{"forward", "aten::mm", true}, before.time}};
  second.parts = {{{"forward", "aten::mm", true}, after.time}};
  EXPECT_THAT(diff_runs(first, second).parts.at(0).notes, ElementsAre("float32 → float64", "1 → 2 calls"));
  EXPECT_TRUE(diff_runs(first, first).parts.at(0).notes.empty());
}

}  // namespace
}  // namespace mindtorch::analyze
