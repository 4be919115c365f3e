// Differentiable ops on a device that executes host code later. Each op in many more cases: test_device_contract.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/tests/late_device.h"
#include "runtime/tests/nn_op_cases.h"

namespace mindtorch::testing {
namespace {

class DeviceSeamTest : public ::testing::TestWithParam<OpCase> {};

TEST_P(DeviceSeamTest, GivesTheValuesAndGradientsOfTheCpu) {
  late_device();
  const TensorVector host = GetParam().inputs();
  TensorVector device;
  for (const Tensor& input : host) device.push_back(input.detach().to(Device(kCUDA)).requires_grad_());
  const Tensor expected = GetParam().function(host), found = GetParam().function(device);
  EXPECT_EQ(found.device(), Device(kCUDA));
  ASSERT_EQ(found.sizes(), expected.sizes());
  EXPECT_EQ(found.to_vector<double>(), expected.to_vector<double>());
  const TensorVector wanted = autograd::grad(weighted_sum(expected), host, {}, std::nullopt, false, true);
  const TensorVector grads = autograd::grad(weighted_sum(found), device, {}, std::nullopt, false, true);
  for (std::size_t i = 0; i < grads.size(); ++i) {
    ASSERT_EQ(grads[i].defined(), wanted[i].defined());
    if (!grads[i].defined()) continue;
    EXPECT_EQ(grads[i].to_vector<double>(), wanted[i].to_vector<double>());
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, DeviceSeamTest, ::testing::ValuesIn(every_op_case()), [](const auto& tested) { return tested.param.name; });

TEST(DeviceSeamRules, KernelsAreNamedAndRunOnTheDevice) {
  LateDevice& device = late_device();
  const Tensor x = ones({3}, {.device = Device(kCUDA)});
  device.take_names();
  const Tensor y = x + x;
  EXPECT_THAT(device.take_names(), ::testing::ElementsAre("add"));
  EXPECT_THAT(y.to_vector<double>(), ::testing::ElementsAre(2, 2, 2));
}

TEST(DeviceSeamRules, ADeviceWithoutAQuickerWayZeroesWithAKernel) {
  LateDevice& device = late_device();
  const Tensor x = ones({3}, {.device = Device(kCUDA)});
  device.take_names();
  x.zero_();
  EXPECT_THAT(device.take_names(), ::testing::ElementsAre("zero_"));
  EXPECT_THAT(x.to_vector<double>(), ::testing::Each(0));
}

TEST(DeviceSeamRules, TensorsOfDifferentDevicesDoNotMixUnlessTheyAreNumbers) {
  late_device();
  const Tensor x = ones({3}, {.device = Device(kCUDA)});
  EXPECT_THROW(x + ones({3}), Error);
  EXPECT_THAT((x * scalar_tensor(2.5)).to_vector<double>(), ::testing::Each(2.5));
}

TEST(DeviceSeamRules, CreationRandomAndComparisonsWorkThere) {
  late_device();
  const TensorOptions there{.device = Device(kCUDA)};
  manual_seed(5);
  const std::vector<double> here = rand({7}).to_vector<double>();
  manual_seed(5);
  EXPECT_EQ(rand({7}, there).to_vector<double>(), here);
  EXPECT_THAT(arange(3, there).to_vector<double>(), ::testing::ElementsAre(0, 1, 2));
  EXPECT_THAT(eye(2, there).to_vector<double>(), ::testing::ElementsAre(1, 0, 0, 1));
  EXPECT_THAT((arange(3, there) > 1).to_vector<double>(), ::testing::ElementsAre(0, 0, 1));
  EXPECT_EQ(std::get<1>(arange(3, there).max(0)).item<int>(), 2);
  EXPECT_EQ(randperm(5, there).sum().item<int>(), 10);
}

TEST(DeviceSeamRules, AllocatedMemoryIsCountedAndGivenBack) {
  CachingAllocator& allocator = late_device().allocator(Device(kCUDA));
  const std::int64_t before = allocator.memory_allocated();
  {
    const Tensor x = empty({1000}, {.device = Device(kCUDA)});
    EXPECT_EQ(allocator.memory_allocated() - before, 4096);
  }
  EXPECT_EQ(allocator.memory_allocated(), before);
}

}  // namespace
}  // namespace mindtorch::testing
