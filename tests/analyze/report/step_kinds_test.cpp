// Kinds of steps: told apart by gaps between durations, named by what grew.
#include "mindtorch/analyze/report/step_kinds.h"

#include <gtest/gtest.h>

namespace mindtorch::analyze {
namespace {

StepPhases step(std::int64_t duration, std::int64_t loading) {
  StepPhases made{.duration_ns = duration};
  made.host[static_cast<std::size_t>(Cause::kLoading)] = loading;
  made.host[static_cast<std::size_t>(Cause::kForward)] = duration - loading;
  return made;
}

TEST(StepKinds, ALoaderWithTwoWorkersGivesTwoKindsAndTheFirstStepIsItsOwn) {
  std::vector<StepPhases> steps = {step(500, 400)};
  for (int k = 0; k < 10; ++k) steps.push_back(k % 2 == 0 ? step(20 + k % 3, 2) : step(100 + k % 5, 82));
  const std::vector<StepKind> kinds = step_kinds(steps, {});
  ASSERT_EQ(kinds.size(), 3U);
  EXPECT_EQ(kinds[0].name, "usual");
  EXPECT_EQ(kinds[1].name, "more data loading");
  EXPECT_EQ(kinds[2].name, "first");
  EXPECT_EQ(kinds[0].count, 5U);
  EXPECT_EQ(kinds[1].count, 5U);
  EXPECT_EQ(steps[0].kind, 2U);
  EXPECT_EQ(steps[1].kind, 0U);
  EXPECT_EQ(steps[2].kind, 1U);
}

TEST(StepKinds, StepsThatDifferALittleAreOfOneKind) {
  std::vector<StepPhases> steps;
  for (int k = 0; k < 20; ++k) steps.push_back(step(100 + 2 * k, 10));
  EXPECT_EQ(step_kinds(steps, {}).size(), 2U) << "the first one and the usual ones";
}

TEST(StepKinds, TheTypicalStepIsNearestToTheMean) {
  std::vector<StepPhases> steps = {step(1000, 0)};
  for (const int duration : {90, 100, 110}) steps.push_back(step(duration, 10));
  const std::vector<StepKind> kinds = step_kinds(steps, {});
  EXPECT_EQ(kinds[0].mean_ns, 100);
  EXPECT_EQ(kinds[0].typical, 2U);
}

TEST(StepKinds, StagesOfEnginesAreKinds) {
  std::vector<StepPhases> steps = {step(10, 0), step(11, 0), step(100, 0)};
  const std::vector<std::string> stages = {"decode", "decode", "prefill"};
  const std::vector<StepKind> kinds = step_kinds(steps, stages);
  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_EQ(kinds[0].name, "decode");
  EXPECT_EQ(kinds[1].name, "prefill");
}

TEST(StepKinds, FewStepsAreOfOneKindAndNoneOfNone) {
  std::vector<StepPhases> steps = {step(10, 0), step(100, 0)}, none;
  EXPECT_EQ(step_kinds(steps, {}).size(), 1U);
  EXPECT_TRUE(step_kinds(none, {}).empty());
}

}  // namespace
}  // namespace mindtorch::analyze
