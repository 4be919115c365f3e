// The time of each op, scope and kernel in each step.
#include "mindtorch/analyze/ranks/work_times.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

std::vector<RankWork> times_of(const trace::Recording& recording) {
  const Analysis analysis(recording);
  return work_times(analysis, Phases(analysis), find_collectives(analysis));
}

// In nanoseconds; -1 if there is no such row.
double time(const std::vector<RankWork>& rows, std::string_view name, std::size_t step = 0) {
  const auto row = std::ranges::find(rows, name, &RankWork::name);
  return row == rows.end() ? -1 : static_cast<double>(row->seconds.at(step)) * 1e9;
}

TEST(WorkTimes, AreSelfTimesByStep) {
  Maker maker;
  maker.step(0, 0, 1000);
  maker.op("aten::linear", 100, 200);
  maker.op("aten::addmm", 120, 150);
  maker.step(1, 1000, 1000);
  maker.op("aten::addmm", 1100, 300);
  const auto rows = times_of(maker.finish());
  EXPECT_NEAR(time(rows, "aten::linear"), 50, 1e-3);
  EXPECT_NEAR(time(rows, "aten::addmm"), 150, 1e-3);
  EXPECT_NEAR(time(rows, "aten::addmm", 1), 300, 1e-3);
  EXPECT_NEAR(time(rows, kPythonWork), 800, 1e-3);
  EXPECT_NEAR(time(rows, kPythonWork, 1), 700, 1e-3);
}

TEST(WorkTimes, WaitingInAScopeOrInPythonIsNotWork) {
  Maker maker;
  maker.step(0, 0, 1000);
  maker.scope("backward", 100, 500);
  maker.add({.name = "gloo:all_reduce",
             .kind = trace::EventKind::kScope,
             .track = maker.thread(),
             .start_ns = 300,
             .duration_ns = 400,
             .flags = trace::kAsync});
  maker.op("aten::mm", 350, 50);
  const auto rows = times_of(maker.finish());
  EXPECT_NEAR(time(rows, "backward"), 200, 1e-3);
  EXPECT_NEAR(time(rows, "aten::mm"), 50, 1e-3);
  EXPECT_NEAR(time(rows, kPythonWork), 400, 1e-3);  // 100 before the scope, 300 after the collective
  EXPECT_EQ(time(rows, "gloo:all_reduce"), -1);
}

TEST(WorkTimes, KernelsCountInTheStepThatLaunchedThem) {
  Maker maker;
  maker.step(0, 0, 100);
  maker.launch(50, 10, 1);
  maker.step(1, 100, 100);
  maker.kernel("gemm", 120, 60, 1);
  const auto rows = times_of(maker.finish());
  EXPECT_NEAR(time(rows, "gemm", 0), 60, 1e-3);
  EXPECT_NEAR(time(rows, "gemm", 1), 0, 1e-3);
  EXPECT_EQ(std::ranges::find(rows, "gemm", &RankWork::name)->kind, RankWork::Kind::kKernel);
}

TEST(WorkTimes, TheRowWithMostTimeComesFirst) {
  Maker maker;
  maker.step(0, 0, 1000);
  maker.op("small", 0, 10);
  maker.op("large", 10, 980);
  EXPECT_EQ(times_of(maker.finish()).at(0).name, "large");
}

}  // namespace
}  // namespace mindtorch::analyze
