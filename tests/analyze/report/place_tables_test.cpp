// Ops told apart by shapes, modules and lines.
#include "mindtorch/analyze/report/place_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::IsEmpty;
using trace::EventKind;

std::vector<OpRow> rows_of(const trace::Recording& recording, OpPlace place, std::size_t most_rows = 10) {
  const Analysis analysis(recording);
  const Phases phases(analysis);
  return rows_by_place(analysis, phases, place, most_rows);
}

TEST(PlaceTables, CallsWithEqualShapesAreOneRow) {
  Maker maker;
  maker.shapes(maker.op("aten::mm", 0, 10), {{2, 3}, {3, 4}});
  maker.shapes(maker.op("aten::mm", 20, 30), {{8, 8}, {8, 8}});
  maker.shapes(maker.op("aten::mm", 60, 15), {{2, 3}, {3, 4}});
  maker.op("aten::add", 80, 5);
  const std::vector<OpRow> rows = rows_of(maker.finish(), OpPlace::kShapes);
  ASSERT_EQ(rows.size(), 2U) << "an op without shapes has no row";
  EXPECT_EQ(rows[0].place, "[[8, 8], [8, 8]]");
  EXPECT_EQ(rows[0].self_ns, 30);
  EXPECT_EQ(rows[1].place, "[[2, 3], [3, 4]]");
  EXPECT_EQ(rows[1].calls, 2);
  EXPECT_EQ(rows[1].total_ns, 25);
  EXPECT_EQ(rows[1].longest_ns, 15);
}

TEST(PlaceTables, AnOpBelongsToTheInnermostModuleAroundIt) {
  Maker maker;
  maker.op("nn.Module: Net_0", 0, 100, EventKind::kModule);
  maker.op("nn.Module: Linear_0", 10, 40, EventKind::kModule);
  maker.op("aten::mm", 20, 20);
  maker.op("aten::mm", 60, 30);
  maker.op("aten::mm", 200, 7);
  const std::vector<OpRow> rows = rows_of(maker.finish(), OpPlace::kModule);
  ASSERT_EQ(rows.size(), 2U) << "an op outside of modules has no row";
  EXPECT_EQ(rows[0].place, "nn.Module: Net_0");
  EXPECT_EQ(rows[0].self_ns, 30);
  EXPECT_EQ(rows[1].place, "nn.Module: Linear_0");
  EXPECT_EQ(rows[1].self_ns, 20);
}

TEST(PlaceTables, AnOpBelongsToTheInnermostLineOfTheUsersCode) {
  Maker maker;
  maker.stack(maker.op("aten::mm", 0, 10), {{"train.py", 12, "step"}, {"train.py", 30, "<module>"}});
  maker.stack(maker.op("aten::mm", 20, 30), {{"train.py", 13, "step"}, {"train.py", 30, "<module>"}});
  const std::vector<OpRow> rows = rows_of(maker.finish(), OpPlace::kLine, 1);
  ASSERT_EQ(rows.size(), 1U) << "the other one is beyond the limit";
  EXPECT_EQ(rows[0].place, "train.py:13:step");
}

TEST(PlaceTables, ARecordingWithoutPlacesHasNoRows) {
  Maker maker;
  maker.op("aten::mm", 0, 10);
  const trace::Recording recording = maker.finish();
  for (const OpPlace place : {OpPlace::kShapes, OpPlace::kModule, OpPlace::kLine}) EXPECT_THAT(rows_of(recording, place), IsEmpty());
}

}  // namespace
}  // namespace mindtorch::analyze
