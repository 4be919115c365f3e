// Counters: memory from reports, and the queue of a device from launches.
#include "mindtorch/analyze/counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mindtorch/trace/text.h"
#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Counters, MemoryIsWhatTheReportsSay) {
  Maker maker;
  maker.memory(10, 100);
  maker.memory(20, 50);
  maker.memory(20, -100);
  const trace::Recording recording = maker.finish();
  const std::vector<Counter> all = counters(Analysis(recording));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].name, "allocated");
  EXPECT_EQ(device_text(all[0].device), "CPU");
  EXPECT_THAT(all[0].times_ns, ElementsAre(10, 20));
  EXPECT_THAT(all[0].values, ElementsAre(100, 50)) << "of two reports at one time, the last one counts";
  EXPECT_EQ(all[1].name, "reserved");
}

TEST(Counters, AQueueGrowsWithALaunchAndShrinksWhenTheWorkBegins) {
  Maker maker;
  maker.launch(10, 5, 1);
  maker.launch(20, 5, 2);
  maker.kernel("gemm", 30, 100, 1);
  maker.kernel("gemm", 130, 100, 2);
  maker.kernel("gemm", 240, 10, 77);
  const trace::Recording recording = maker.finish();
  const std::vector<Counter> all = counters(Analysis(recording));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].name, "queued");
  EXPECT_EQ(device_text(all[0].device), "NPU:0");
  EXPECT_THAT(all[0].times_ns, ElementsAre(10, 20, 30, 130)) << "work without a launch is not counted";
  EXPECT_THAT(all[0].values, ElementsAre(1, 2, 1, 0));
}

TEST(Counters, WhatWasMeasuredIsAmongThem) {
  Maker maker;
  maker.builder().recording().counters = {{"power", "W", {trace::DeviceType::kCuda, 0}, {10, 20, 20}, {300.5, 1, 400}}};
  const trace::Recording recording = maker.finish();
  const std::vector<Counter> all = counters(Analysis(recording));
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].name, "power");
  EXPECT_EQ(all[0].unit, "W");
  EXPECT_EQ(device_text(all[0].device), "CUDA:0");
  EXPECT_THAT(all[0].values, ElementsAre(300.5, 400));
}

TEST(Counters, ARecordingWithoutMemoryAndDevicesHasNone) {
  Maker maker;
  maker.op("aten::mm", 0, 10);
  const trace::Recording recording = maker.finish();
  EXPECT_THAT(counters(Analysis(recording)), IsEmpty());
}

}  // namespace
}  // namespace mindtorch::analyze
