// Devices as users name them, losses as JSON.
#include "mindtorch/trace/text.h"

#include <gtest/gtest.h>

#include "mindtorch/base/error.h"

namespace mindtorch::trace {
namespace {

TEST(TraceText, ADeviceHasOneTextForUsersAndTheOneThatIsRead) {
  for (const Device device : {Device{DeviceType::kCuda, 1}, Device{DeviceType::kNpu, 0}, Device{DeviceType::kCpu, 0}})
    EXPECT_EQ(parse_device(device_specifier(device)), device);
  EXPECT_EQ(device_text({DeviceType::kCpu, 0}), "CPU");
  EXPECT_EQ(device_text({DeviceType::kCuda, 1}), "CUDA:1");
}

TEST(TraceText, DevicesAreReadAsTorchWritesThem) {
  EXPECT_EQ(parse_device("cpu"), Device{});
  EXPECT_EQ(parse_device("npu"), (Device{DeviceType::kNpu, 0}));
  EXPECT_EQ(parse_device("npu:3"), (Device{DeviceType::kNpu, 3}));
  EXPECT_EQ(parse_device("cuda:255"), (Device{DeviceType::kCuda, 255}));
  EXPECT_EQ(parse_device("privateuseone:1"), (Device{DeviceType::kNpu, 1}));
  for (const char* text : {"", "gpu", "NPU:0", "npu:", "npu:x", "npu:1x", "npu:-1", "cuda:256", ":0"}) {
    EXPECT_THROW(parse_device(text), InvalidArgument) << text;
  }
}

TEST(TraceText, ALossAsJsonIsEscaped) {
  EXPECT_EQ(loss_json({LossReason::kBudget, 3, "thread \"1\"", ""}), R"({"reason":"budget","count":3,"where":"thread \"1\"","detail":""})");
}

TEST(TraceText, AStepsNameTellsItsNumberAndNothingElseDoes) {
  EXPECT_EQ(step_name(0), "ProfilerStep#0");
  for (const std::int64_t step : {std::int64_t{0}, std::int64_t{7}, std::int64_t{INT64_MAX}}) {
    EXPECT_EQ(step_in_name(step_name(step)), step);
    EXPECT_EQ(step_of(step_link_in_name(step_name(step))), step);
  }
  for (const char* name : {"", "ProfilerStep#", "ProfilerStep#1x", "ProfilerStep#99999999999999999999", "Optimizer.step#1", "#3"}) {
    EXPECT_EQ(step_in_name(name), std::nullopt) << name;
    EXPECT_EQ(step_link_in_name(name), 0u) << name;
  }
  EXPECT_EQ(step_link_in_name("ProfilerStep#-4"), 0u);
}

TEST(TraceText, NamesOfKindsAndScalarTypesLeadBackToThem) {
  for (int k = 0; k < kEventKinds; ++k) {
    EXPECT_EQ(event_kind_of_name(event_kind_name(static_cast<EventKind>(k))), static_cast<EventKind>(k));
  }
  EXPECT_FALSE(event_kind_of_name(""));
  EXPECT_EQ(scalar_type_of_name("long int"), ScalarType::kInt64);
  EXPECT_EQ(scalar_type_of_name(""), ScalarType::kOther);
}

}  // namespace
}  // namespace mindtorch::trace
