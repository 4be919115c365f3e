// schedule(): torch's sequences and texts.
#include "mindtorch/profiler/schedule.h"

#include <gmock/gmock.h>

#include <limits>

#include "mindtorch/base/error.h"
#include "mindtorch/profiler/warning.h"

namespace mindtorch::profiler {
namespace {

using ::testing::ElementsAre;

// The first `steps` actions as letters: None, Warmup, Record, record and Save.
std::string letters(const ScheduleOptions& options, int steps) {
  const Schedule action_of = schedule(options);
  std::string text;
  for (int step = 0; step < steps; ++step) text += "NWRS"[static_cast<int>(action_of(step))];
  return text;
}

std::string refusal(const ScheduleOptions& options) {
  try {
    schedule(options);
  } catch (const ArgumentAssertion& error) {
    return error.what();
  }
  return "";
}

TEST(Schedule, CyclesRepeatWithoutEndByDefault) { EXPECT_EQ(letters({.wait = 1, .warmup = 1, .active = 2}, 13), "NWRSNWRSNWRSN"); }

TEST(Schedule, TheLastActiveStepSaves) {
  EXPECT_EQ(letters({.active = 1}, 4), "SSSS");
  EXPECT_EQ(letters({.active = 3}, 7), "RRSRRSR");
  EXPECT_EQ(letters({.warmup = 2, .active = 1}, 7), "WWSWWSW");
}

TEST(Schedule, SkippedStepsComeBeforeTheFirstCycleAndRepeatEndsAfterTheLast) {
  EXPECT_EQ(letters({.wait = 2, .warmup = 1, .active = 4, .repeat = 2, .skip_first = 3}, 22), "NNNNNWRRRSNNWRRRSNNNNN");
}

TEST(Schedule, TheFirstWaitCanBeLeftOutAndStillCountsAsPartOfItsCycle) {
  EXPECT_EQ(letters({.wait = 5, .warmup = 1, .active = 2, .repeat = 2, .skip_first = 3, .skip_first_wait = 1}, 18), "NNNWRSNNNNNWRSNNNN");
}

TEST(Schedule, AnEndlessWaitNeverRecords) {
  const ScheduleOptions for_ever{.wait = std::numeric_limits<std::int64_t>::max(), .warmup = 1, .active = 1};
  EXPECT_EQ(letters(for_ever, 5), "NNNNN");
  ScheduleOptions skipped = for_ever;
  skipped.skip_first_wait = 1;
  EXPECT_EQ(letters(skipped, 5), "WSNNN");
}

TEST(Schedule, ANegativeStepFailsWithTorchsText) {
  try {
    schedule({.warmup = 1, .active = 1})(-3);
    FAIL();
  } catch (const AssertionFailed& error) {
    EXPECT_STREQ(error.what(), "Step must be non-negative. Got -3.");
  }
}

TEST(Schedule, BadArgumentsAreRefusedWithTorchsText) {
  EXPECT_EQ(refusal({}),
            "Invalid profiler schedule arguments. Got wait=0 (need >= 0), warmup=0 (need >= 0), active=0 (need > 0), repeat=0 (need >= 0), "
            "skip_first=0 (need >= 0).");
  EXPECT_NE(refusal({.wait = -1, .active = 1}), "");
  EXPECT_NE(refusal({.warmup = -1, .active = 1}), "");
  EXPECT_NE(refusal({.active = -1}), "");
  EXPECT_NE(refusal({.active = 1, .repeat = -1}), "");
  EXPECT_NE(refusal({.active = 1, .skip_first = -1}), "");
  EXPECT_EQ(refusal({.warmup = 1, .active = 1}), "");
}

TEST(Schedule, DoingWithoutWarmupWarnsInTorchsWords) {
  std::vector<Warning> heard;
  set_warning_sink([&](WarningCategory category, const std::string& text) { heard.push_back({category, text}); });
  schedule({.warmup = 1, .active = 1});
  EXPECT_TRUE(heard.empty());
  schedule({.active = 1});
  set_warning_sink({});
  EXPECT_THAT(heard, ElementsAre(Warning{WarningCategory::kUser, "Profiler won't be using warmup, this can skew profiler results"}));
}

TEST(Schedule, ActionsHaveTorchsNamesAndNumbers) {
  EXPECT_EQ(action_name(ProfilerAction::kNone), "NONE");
  EXPECT_EQ(action_name(ProfilerAction::kWarmup), "WARMUP");
  EXPECT_EQ(action_name(ProfilerAction::kRecord), "RECORD");
  EXPECT_EQ(action_name(ProfilerAction::kRecordAndSave), "RECORD_AND_SAVE");
  EXPECT_EQ(action_name(ProfilerAction::kDeviceStopped), "DEVICE_STOPPED");
  EXPECT_EQ(static_cast<int>(ProfilerAction::kRecordAndSave), 3);
}

}  // namespace
}  // namespace mindtorch::profiler
