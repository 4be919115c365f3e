// Processors: what the metadata of a recording says about other programs.
#include "mindtorch/analyze/processors.h"

#include <gtest/gtest.h>

namespace mindtorch::analyze {
namespace {

Processors told(const char* own, const char* others, const char* missing) {
  trace::Recording recording;
  recording.metadata = {{"processors_own", own}, {"processors_others", others}, {"processors_missing", missing}};
  return processors_of(recording);
}

TEST(Processors, ThoseOfAMachineOfItsOwnAreNotBusy) {
  EXPECT_FALSE(processors_of(trace::Recording()).are_busy()) << "nobody told";
  EXPECT_FALSE(processors_of(trace::Recording()).missing);
  EXPECT_FALSE(told("0.9", "0.05", "0.1").are_busy());
  EXPECT_FALSE(told("0.1", "0.4", "0").are_busy()) << "half of them are idle";
}

TEST(Processors, OthersTakeThemIfTheyHaveMuchBesideTheProgram) {
  EXPECT_TRUE(told("0.7", "0.3", "0.2").are_busy());
  EXPECT_FALSE(told("0.7", "0.3", "0.2").are_taken_by_others());
  EXPECT_TRUE(told("0.2", "0.8", "0.5").are_taken_by_others());
  EXPECT_EQ(told("0.2", "0.8", "0.5").missing, 0.5);
}

}  // namespace
}  // namespace mindtorch::analyze
