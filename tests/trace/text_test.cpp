// Devices as users name them, losses as JSON.
#include "mindtorch/trace/text.h"

#include <gtest/gtest.h>

#include "mindtorch/base/error.h"

namespace mindtorch::trace {
namespace {

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
