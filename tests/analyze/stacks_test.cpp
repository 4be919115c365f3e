// Collapsed stacks: metrics, sums by stack, and lines any flame graph tool reads.
#include "mindtorch/analyze/stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mindtorch/base/error.h"
#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;

TEST(Stacks, APlainFrameHoldsNothingThatSeparatesFramesWeightsOrLines) {
  EXPECT_EQ(plain_frame("a b;c\td\ne\rf"), "a_b_c_d_e_f");
  EXPECT_EQ(plain_frame("\u2028a\u2028\u2029b\u2027"), "_a__b\u2027");
  EXPECT_EQ(plain_frame("a\u0085b"), "a\uFFFDb");
}

TEST(Stacks, TheMetricsAreTorchs) {
  EXPECT_THAT(supported_stack_metrics(),
              ElementsAre("self_cpu_time_total", "self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total"));
  const trace::Recording recording;
  const Analysis analysis(recording);
  for (const std::string_view metric : supported_stack_metrics()) EXPECT_TRUE(collapsed_stacks(analysis, metric).empty());
  try {
    collapsed_stacks(analysis, "count");
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(
        error.what(),
        "metric should be one of: ['self_cpu_time_total', 'self_cuda_time_total', 'self_xpu_time_total', 'self_privateuse1_time_total']");
  }
}

TEST(Stacks, SelfTimesAddUpByStackOutermostFirstRoundedUpOnce) {
  Maker maker;
  for (int i = 0; i < 10; ++i) maker.stack(maker.op("fast", 100 + i * 1000, 300), {{"a b.py", 2, "f;g"}, {"main.py", 1, "main"}});
  const auto outer = maker.op("outer", 50000, 5000);
  maker.op("child without a stack", 51000, 1000);
  maker.stack(outer, {{"main.py", 9, "main"}});
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_EQ(collapsed_text(collapsed_stacks(analysis, "self_cpu_time_total")), "main.py:1:main;a_b.py:2:f_g 3\nmain.py:9:main 4\n");
}

TEST(Stacks, DeviceMetricsWeighTheWorkThatWasLaunched) {
  Maker maker;
  maker.stack(maker.op("op", 0, 5000), {{"main.py", 1, "main"}});
  maker.launch(100, 10, 1);
  maker.kernel("k", 9000, 1, 1);
  maker.stack(maker.op("no kernel", 6000, 100), {{"main.py", 2, "main"}});
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  for (const char* metric :
       {"self_cuda_time_total", "self_xpu_time_total", "self_privateuse1_time_total", "self_npu_time_total", "self_device_time_total"}) {
    EXPECT_EQ(collapsed_text(collapsed_stacks(analysis, metric)), "main.py:1:main 1\n");
  }
}

TEST(Stacks, RowsWithStacksGiveALineEach) {
  Maker maker;
  maker.stack(maker.op("a", 0, 2000), {{"main.py", 1, "main"}});
  maker.stack(maker.op("b", 5000, 1500), {{"main.py", 1, "main"}});
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_EQ(collapsed_text(collapsed_stacks(key_averages(analysis, {.group_by_stack_n = 5}), "self_cpu_time_total")),
            "main.py:1:main 2\nmain.py:1:main 2\n");
  EXPECT_TRUE(collapsed_stacks(key_averages(analysis), "self_cpu_time_total").empty());
}

TEST(Stacks, HostileFramesStayOneFieldOfValidText) {
  Maker maker;
  maker.stack(maker.op("a", 0, 1), {{"x\ty\nz\r.py", 1, "f \xFF;"}});
  const trace::Recording recording = maker.finish();
  EXPECT_EQ(collapsed_text(collapsed_stacks(Analysis(recording), "self_cpu_time_total")), "x_y_z_.py:1:f_\xEF\xBF\xBD_ 1\n");
}

}  // namespace
}  // namespace mindtorch::analyze
