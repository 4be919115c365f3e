// Work tables: times by name, and who calls whom.
#include "mindtorch/analyze/report/work_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;
using testing::Field;
using trace::EventKind;

const OpRow& row(const std::vector<OpRow>& rows, std::string_view name) {
  const auto found = std::ranges::find(rows, name, &OpRow::name);
  EXPECT_NE(found, rows.end()) << name;
  return *found;
}

struct Sample {
  Sample() {
    maker.step(1, 0, 1000);
    maker.op("aten::linear", 100, 300);
    maker.op("aten::addmm", 150, 200);
    maker.launch(160, 10, 7);
    maker.kernel("gemm", 500, 80, 7);
    maker.op("aten::linear", 600, 100);
    recording = maker.finish();
  }
  Maker maker;
  trace::Recording recording;
};

TEST(WorkTables, RowsHaveTheTimesOfTheirCalls) {
  const Sample sample;
  const Analysis analysis(sample.recording);
  const WorkTables tables = work_tables(analysis, Phases(analysis));
  const OpRow& linear = row(tables.ops, "aten::linear");
  EXPECT_EQ(linear.calls, 2);
  EXPECT_EQ(linear.total_ns, 400);
  EXPECT_EQ(linear.self_ns, 200);
  EXPECT_EQ(linear.shortest_ns, 100);
  EXPECT_EQ(linear.longest_ns, 300);
  EXPECT_EQ(linear.device_ns, 80);
  EXPECT_EQ(linear.self_device_ns, 0);
  EXPECT_EQ(row(tables.kernels, "gemm").self_device_ns, 80);
  EXPECT_THAT(tables.ops, testing::Not(testing::Contains(Field(&OpRow::name, "ProfilerStep*"))));
}

TEST(WorkTables, RowsKnowTheirCallersCalleesAndKernels) {
  const Sample sample;
  const Analysis analysis(sample.recording);
  const WorkTables tables = work_tables(analysis, Phases(analysis));
  const OpRow& linear = row(tables.ops, "aten::linear");
  const OpRow& addmm = row(tables.ops, "aten::addmm");
  ASSERT_EQ(addmm.callers.size(), 1U);
  EXPECT_EQ(tables.ops[addmm.callers[0].row].name, "aten::linear");
  ASSERT_EQ(linear.callees.size(), 1U);
  EXPECT_EQ(linear.callees[0].time_ns, 200);
  EXPECT_THAT(row(tables.kernels, "gemm").callers, ElementsAre(Field(&WorkLink::time_ns, 80)));
}

TEST(WorkTables, TheTimesOfARowOverTheRecordingAddUpToItsOwnTime) {
  const Sample sample;
  const Analysis analysis(sample.recording);
  const WorkTables tables = work_tables(analysis, Phases(analysis), {.bins = 10});
  const OpRow& linear = row(tables.ops, "aten::linear");
  EXPECT_THAT(linear.over_time, ElementsAre(0, 100, 0, 0, 0, 0, 100, 0, 0, 0));
}

TEST(WorkTables, TheRowsWithMostTimeAreKeptAndTheOthersCounted) {
  Maker maker;
  for (int k = 0; k < 20; ++k) maker.op("op" + std::to_string(k), 100 * k, 10 + k);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const WorkTables tables = work_tables(analysis, Phases(analysis), {.most_rows = 2});
  EXPECT_THAT(tables.ops, ElementsAre(Field(&OpRow::name, "op19"), Field(&OpRow::name, "op18")));
  EXPECT_EQ(tables.ops_left_out, 18U);
}

TEST(WorkTables, ACallInsideACallOfItsNameCountsOnceInTheTotal) {
  Maker maker;
  maker.op("f", 0, 100);
  maker.op("g", 10, 80);
  maker.op("f", 20, 50);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const WorkTables tables = work_tables(analysis, Phases(analysis));
  EXPECT_EQ(row(tables.ops, "f").total_ns, 100);
  EXPECT_EQ(row(tables.ops, "f").calls, 2);
}

}  // namespace
}  // namespace mindtorch::analyze
