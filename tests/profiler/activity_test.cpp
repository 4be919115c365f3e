// Activities: names, spellings and refusals.
#include "mindtorch/profiler/activity.h"

#include <gmock/gmock.h>

#include "mindtorch/base/error.h"

namespace mindtorch::profiler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class E>
std::string refusal(std::vector<Activity> list) {
  try {
    checked_activities(std::move(list));
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

TEST(Activity, NumbersAreThoseOfTorch) {
  EXPECT_EQ(static_cast<int>(Activity::kCpu), 0);
  EXPECT_EQ(static_cast<int>(Activity::kXpu), 1);
  EXPECT_EQ(static_cast<int>(Activity::kCuda), 2);
  EXPECT_EQ(static_cast<int>(Activity::kHpu), 3);
  EXPECT_EQ(static_cast<int>(Activity::kMtia), 4);
  EXPECT_EQ(static_cast<int>(Activity::kNpu), 5);
}

TEST(Activity, EveryNameCanBeParsedBack) {
  for (const Activity activity : {Activity::kCpu, Activity::kXpu, Activity::kCuda, Activity::kHpu, Activity::kMtia, Activity::kNpu})
    EXPECT_EQ(parse_activity(activity_name(activity)), activity);
}

TEST(Activity, TextIsTakenAfterTheLastDotAndInAnyCase) {
  EXPECT_EQ(parse_activity("cpu"), Activity::kCpu);
  EXPECT_EQ(parse_activity("ProfilerActivity.Npu"), Activity::kNpu);
  EXPECT_EQ(parse_activity("torch.profiler.ProfilerActivity.CUDA"), Activity::kCuda);
  EXPECT_EQ(parse_activity("PrivateUse1"), Activity::kNpu);
  EXPECT_EQ(parse_activity("gpu"), Activity::kCuda);
}

TEST(Activity, AnUnknownTextIsAnInvalidArgumentThatNamesIt) {
  EXPECT_THROW(parse_activity(""), InvalidArgument);
  try {
    parse_activity("abacus");
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("unsupported profiler activity: abacus"));
  }
}

TEST(Activity, NotSayingAnythingDiffersFromAnEmptyList) {
  EXPECT_FALSE(Activities().specified());
  EXPECT_TRUE(Activities(std::vector<Activity>{}).specified());
  EXPECT_THAT(Activities({Activity::kNpu}).list(), ElementsAre(Activity::kNpu));
}

TEST(Activity, AnEmptyListIsRefusedWithTorchsText) { EXPECT_EQ(refusal<ArgumentAssertion>({}), "No valid profiler activities found"); }

TEST(Activity, TheSameActivityTwiceIsRefusedWithTorchsText) {
  EXPECT_EQ(refusal<InvalidArgument>({Activity::kCuda, Activity::kCpu, Activity::kCuda}),
            "Activity ProfilerActivity.CUDA specified more than once");
}

TEST(Activity, DevicesWithoutASourceAreAccepted) {
  EXPECT_THAT(checked_activities({Activity::kXpu, Activity::kCpu}), ElementsAre(Activity::kCpu, Activity::kXpu));
}

TEST(Activity, ACheckedListIsInTheOrderOfTheEnum) {
  EXPECT_THAT(checked_activities({Activity::kNpu, Activity::kCpu, Activity::kCuda}),
              ElementsAre(Activity::kCpu, Activity::kCuda, Activity::kNpu));
}

}  // namespace
}  // namespace mindtorch::profiler
