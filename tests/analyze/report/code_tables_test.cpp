// Times by modules and source lines.
#include "mindtorch/analyze/report/code_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using trace::EventKind;

TEST(CodeTables, TheTimeOfAModuleItselfIsWithoutItsModules) {
  Maker maker;
  maker.op("nn.Module: Net_0", 0, 100, EventKind::kModule);
  maker.op("nn.Module: Linear_0", 10, 60, EventKind::kModule);
  maker.op("aten::mm", 20, 30);
  maker.launch(25, 5, 1);
  maker.kernel("gemm", 40, 500, 1);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const std::vector<OpRow> rows = module_rows(analysis, 10);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "nn.Module: Linear_0") << "most time of its own, on host and device";
  EXPECT_EQ(rows[0].self_ns, 60);
  EXPECT_EQ(rows[0].self_device_ns, 500);
  EXPECT_EQ(rows[1].self_ns, 40);
  EXPECT_EQ(rows[1].total_ns, 100);
  EXPECT_EQ(rows[1].device_ns, 500);
}

TEST(CodeTables, LinesAreTheInnermostOnesOfTheUsersCode) {
  Maker maker;
  const auto first = maker.op("aten::mm", 0, 10);
  const auto second = maker.op("aten::mm", 20, 30);
  maker.stack(first, {{"train.py", 12, "step"}, {"train.py", 30, "<module>"}});
  maker.stack(second, {{"train.py", 13, "step"}, {"train.py", 30, "<module>"}});
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const std::vector<OpRow> rows = line_rows(analysis, 10);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].name, "train.py:13:step");
  EXPECT_EQ(rows[0].self_ns, 30);
  EXPECT_EQ(rows[1].self_ns, 10);
  EXPECT_THAT(lines_of(analysis, std::vector<EventIndex>{0, 1}, 1), ElementsAre("train.py:13:step"));
  EXPECT_THAT(lines_of(analysis, std::vector<EventIndex>{}, 1), IsEmpty());
}

TEST(CodeTables, WithoutStacksLinesAreThoseThatWereSeen) {
  Maker maker;
  maker.op("train.py(3): main", 0, 100, EventKind::kPythonFunction);
  maker.op("aten::mm", 10, 60);
  maker.launch(20, 5, 1);
  maker.kernel("mm", 30, 200, 1);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Phases phases(analysis);
  const std::vector<OpRow> rows = seen_line_rows(analysis, phases, 10);
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].name, "train.py:3:main");
  EXPECT_EQ(rows[0].self_ns, 100);
  EXPECT_EQ(rows[0].self_device_ns, 200);
  EXPECT_EQ(rows[0].phase, Cause::kForward) << "most of its time";
}

TEST(CodeTables, ARecordingWithoutModulesAndStacksHasNone) {
  Maker maker;
  maker.op("aten::mm", 0, 10);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_THAT(module_rows(analysis, 10), IsEmpty());
  EXPECT_THAT(line_rows(analysis, 10), IsEmpty());
}

}  // namespace
}  // namespace mindtorch::analyze
