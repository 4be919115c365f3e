// The open step, asked for in any order of time.
#include "mindtorch/analyze/step_finder.h"

#include <gtest/gtest.h>

#include <vector>

namespace mindtorch::analyze {
namespace {

struct Step {
  std::int64_t start_ns, duration_ns;
};

TEST(StepFinder, TheLastStepThatStartedIsOpenUntilItsEnd) {
  const std::vector<Step> steps = {{10, 5}, {20, 10}, {30, 1}};
  StepFinder<Step> finder(steps);
  for (const auto& [time, index] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {9, -1}, {10, 0}, {14, 0}, {15, -1}, {20, 1}, {29, 1}, {30, 2}, {31, -1}, {22, 1}, {5, -1}, {30, 2}, {12, 0}}) {
    EXPECT_EQ(finder.at(time), index) << time;
    EXPECT_EQ(StepFinder<Step>(steps).at(time), index) << time;
  }
}

TEST(StepFinder, WithoutStepsNoneIsOpen) { EXPECT_EQ(StepFinder<Step>({}).at(0), -1); }

}  // namespace
}  // namespace mindtorch::analyze
