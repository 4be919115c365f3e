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
  const Phases phases(analysis);
  EXPECT_THAT(lines_of(analysis, phases, HostPhase::kForward, "", 1), ElementsAre("train.py:13:step"));
  EXPECT_THAT(lines_of(analysis, phases, HostPhase::kWait, "", 1), IsEmpty());
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
