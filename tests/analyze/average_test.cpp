// Average: fields under torch's names, averages, adding rows.
#include "mindtorch/analyze/average.h"

#include <gtest/gtest.h>

#include "mindtorch/base/error.h"

namespace mindtorch::analyze {
namespace {

Average sample() {
  Average a;
  a.key = "aten::mm";
  a.count = 4;
  a.cpu_time_total_ns = 10000;
  a.device_time_total_ns = 6000;
  a.self_device_time_total_ns = 5000;
  a.device_memory_usage = -7;
  a.flops = 9;
  return a;
}

TEST(Average, TimesAreMicrosecondsAndAveragesPerCall) {
  const Average a = sample();
  EXPECT_DOUBLE_EQ(a.cpu_time_total(), 10.0);
  EXPECT_DOUBLE_EQ(a.cpu_time(), 2.5);
  EXPECT_DOUBLE_EQ(a.device_time(), 1.5);
  EXPECT_EQ(Average().cpu_time(), 0.0);
}

TEST(Average, FieldsHaveTorchsNames) {
  const Average a = sample();
  EXPECT_EQ(field(a, "key"), Field("aten::mm"));
  EXPECT_EQ(field(a, "cpu_time_total"), Field(10.0));
  EXPECT_EQ(field(a, "self_cuda_time_total"), Field(5.0));
  EXPECT_EQ(field(a, "self_privateuse1_time_total"), Field(5.0));
  EXPECT_EQ(field(a, "self_npu_time_total"), Field(5.0));
  EXPECT_EQ(field(a, "xpu_memory_usage"), Field(std::int64_t{-7}));
  EXPECT_EQ(field(a, "cpu_time_str"), Field("2.500us"));
  EXPECT_EQ(field(a, "input_shapes"), Field(std::string()));
  EXPECT_EQ(field(a, "flops"), Field(std::int64_t{9}));
  for (const std::string_view name : field_names()) EXPECT_NO_THROW(field(a, name)) << name;
}

TEST(Average, AnUnknownFieldIsAnAttributeErrorWithTorchsText) {
  try {
    field(sample(), "cuda_zz");
    FAIL();
  } catch (const NoSuchAttribute& error) {
    EXPECT_STREQ(error.what(), "'FunctionEventAvg' object has no attribute 'device_zz'");
  }
}

TEST(Average, AddingNeedsTheSameKey) {
  Average a = sample();
  a.add(sample());
  EXPECT_EQ(a.count, 8);
  EXPECT_EQ(a.cpu_time_total_ns, 20000);
  EXPECT_EQ(a.flops, 18);
  Average other = sample();
  other.key = "b";
  try {
    a.add(other);
    FAIL();
  } catch (const AssertionFailed& error) {
    EXPECT_STREQ(error.what(), "Expected keys to match, but got b vs aten::mm");
  }
}

}  // namespace
}  // namespace mindtorch::analyze
