// Grouping: group numbers are those of first occurrence, and the same after a rewind.
#include "mindtorch/analyze/grouping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;

std::vector<std::uint32_t> groups(Grouping& grouping, const Analysis& analysis) {
  std::vector<std::uint32_t> groups;
  for (EventIndex i = 0; i < analysis.recording().events.size(); ++i) groups.push_back(grouping.group_of(i));
  return groups;
}

TEST(Grouping, NumbersGroupsAsTheyAreMetAndAgainAfterARewind) {
  Maker maker;
  maker.shapes(maker.op("mm", 0, 1), {{2, 2}});
  maker.op("t", 10, 1);
  maker.shapes(maker.op("mm", 20, 1), {{3, 3}});
  maker.shapes(maker.op("mm", 30, 1), {{2, 2}});
  maker.scope("mm", 40, 1);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  Grouping by_name(analysis, {});
  EXPECT_THAT(groups(by_name, analysis), ElementsAre(0, 1, 0, 0, 2));
  EXPECT_EQ(by_name.size(), 3u);
  Grouping by_shape(analysis, {.group_by_input_shape = true});
  EXPECT_THAT(groups(by_shape, analysis), ElementsAre(0, 1, 2, 0, 3));
  by_shape.rewind();
  EXPECT_THAT(groups(by_shape, analysis), ElementsAre(0, 1, 2, 0, 3));
}

}  // namespace
}  // namespace mindtorch::analyze
