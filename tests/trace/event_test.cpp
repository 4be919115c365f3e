// The vocabulary: names and the words that link events.
#include "mindtorch/trace/event.h"

#include <gtest/gtest.h>

#include <set>

namespace mindtorch::trace {
namespace {

TEST(Event, SequenceLinksKeepSequenceAndForwardThread) {
  const std::uint64_t link = make_sequence_link(123456789012, 77);
  EXPECT_EQ(sequence_of(link), 123456789012);
  EXPECT_EQ(forward_thread_of(link), 77u);
}

TEST(Event, NoLinkMeansNoSequenceAndSequenceZeroIsALink) {
  EXPECT_EQ(sequence_of(0), -1);
  EXPECT_EQ(forward_thread_of(0), 0u);
  EXPECT_NE(make_sequence_link(0), 0u);
  EXPECT_EQ(sequence_of(make_sequence_link(0)), 0);
}

TEST(Event, ASequenceNumberThatDoesNotFitGivesALinkWithoutUndefinedBehaviour) {
  constexpr std::uint64_t link = make_sequence_link(INT64_MAX, 77);  // a constant: the compiler refuses an overflow
  EXPECT_EQ(sequence_of(link), -1);
  EXPECT_EQ(forward_thread_of(link), 77u);
  EXPECT_EQ(sequence_of(make_sequence_link(-1)), -1);
}

TEST(Event, DeviceTypesHaveTorchsNumbersAndNames) {
  EXPECT_EQ(static_cast<int>(DeviceType::kNpu), 20);
  EXPECT_EQ(device_type_name(DeviceType::kCpu), "CPU");
  EXPECT_EQ(device_type_name(DeviceType::kCuda), "CUDA");
  EXPECT_EQ(device_type_name(DeviceType::kNpu), "NPU");
  EXPECT_EQ(device_type_name(static_cast<DeviceType>(9)), "UNKNOWN");
}

TEST(Event, ScalarTypesAreNamedAsTorchNamesThem) {
  EXPECT_EQ(scalar_type_name(ScalarType::kFloat), "float");
  EXPECT_EQ(scalar_type_name(ScalarType::kInt64), "long int");
  EXPECT_EQ(scalar_type_name(ScalarType::kBFloat16), "c10::BFloat16");
  EXPECT_EQ(scalar_type_name(ScalarType{9}), "c10::complex<float>");
  EXPECT_EQ(scalar_type_name(ScalarType{45}), "c10::Float4_e2m1fn_x2");
  EXPECT_EQ(scalar_type_name(ScalarType{46}), "c10::complex<c10::BFloat16>");
  EXPECT_EQ(scalar_type_name(ScalarType{47}), "");
  EXPECT_EQ(scalar_type_name(ScalarType::kOther), "");
}

TEST(Event, EveryCategoryStateAndLossReasonHasItsOwnName) {
  std::set<std::string_view> categories, states, reasons;
  for (int i = 0; i < kThreadStates; ++i) states.insert(thread_state_name(static_cast<ThreadState>(i)));
  EXPECT_EQ(states.size(), static_cast<std::size_t>(kThreadStates));
  for (int i = 0; i < kMemoryCategories; ++i) categories.insert(memory_category_name(static_cast<MemoryCategory>(i)));
  for (int i = 0; i < kLossReasons; ++i) reasons.insert(loss_reason_name(static_cast<LossReason>(i)));
  EXPECT_EQ(categories.size(), static_cast<std::size_t>(kMemoryCategories));
  EXPECT_EQ(reasons.size(), static_cast<std::size_t>(kLossReasons));
  EXPECT_FALSE(reasons.contains("unknown"));
}

TEST(Event, DeviceKindsAreTheOnesOnTheDeviceTimeline) {
  EXPECT_TRUE(is_device_kind(EventKind::kKernel));
  EXPECT_TRUE(is_device_kind(EventKind::kDeviceScope));
  EXPECT_FALSE(is_device_kind(EventKind::kRuntime));
  EXPECT_FALSE(is_device_kind(EventKind::kInstant));
}

}  // namespace
}  // namespace mindtorch::trace
