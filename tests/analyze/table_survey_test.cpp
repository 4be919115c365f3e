// TableSurvey: which columns a table needs, and how wide.
#include "mindtorch/analyze/table_survey.h"

#include <gtest/gtest.h>

#include "mindtorch/base/error.h"

namespace mindtorch::analyze {
namespace {

TEST(TableSurvey, SeesWhatAnyRowHas) {
  TableSurvey survey;
  Average row;
  row.key = "\xC3\xA4";
  row.count = 2;
  row.self_cpu_time_total_ns = 5;
  survey.add(row);
  EXPECT_FALSE(survey.has_device_time || survey.has_device_memory || survey.has_shapes || survey.has_overloads || survey.has_stacks);
  EXPECT_FALSE(survey.has_nodes);
  row.key = "kernel";
  row.device_type = trace::DeviceType::kNpu;
  row.self_device_time_total_ns = 7;
  row.self_device_memory_usage = 1;
  row.input_shapes = Shapes{{2, 3}};
  row.overload_name = "out";
  row.stack = {"a.py:1:f", "b"};
  row.node_id = 0;
  row.flops = 50;
  survey.add(row);
  row.flops = 20;
  row.is_user_annotation = true;
  survey.add(row);
  EXPECT_TRUE(survey.has_device_time && survey.has_device_memory && survey.has_shapes && survey.has_overloads && survey.has_stacks);
  EXPECT_TRUE(survey.has_nodes);
  EXPECT_EQ(survey.longest_key, 6u);
  EXPECT_EQ(survey.longest_shapes, 8u);
  EXPECT_EQ(survey.longest_frame, 8u);
  EXPECT_EQ(survey.smallest_flops, 20);
  EXPECT_EQ(survey.self_cpu_ns, 15);
  EXPECT_EQ(survey.self_device_ns, 7) << "the span of an annotation is no work";
  EXPECT_EQ(survey.calls, 6);
}

TEST(TableSurvey, HostRowsOfTorchsLegacyProfilerStandForTheirDeviceWork) {
  TableSurvey survey;
  Average row;
  row.self_device_time_total_ns = 7;
  survey.add(row);
  EXPECT_EQ(survey.self_device_ns, 0) << "its kernels have rows of their own";
  row.is_legacy = true;
  survey.add(row);
  EXPECT_EQ(survey.self_device_ns, 7);
}

TEST(TableSurvey, ColumnsAreAsWideAsNeededUpToTheLimit) {
  EXPECT_EQ(column_width(10, std::nullopt), 14u);
  EXPECT_EQ(column_width(10, 55), 14u);
  EXPECT_EQ(column_width(100, 55), 55u);
  EXPECT_EQ(column_width(100, 0), 0u);
  EXPECT_THROW(column_width(100, -1), InvalidArgument);
}

}  // namespace
}  // namespace mindtorch::analyze
