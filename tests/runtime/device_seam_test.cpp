// Every op on a device that executes host code later: work is queued and runs only when the device is synchronized, so a kernel that
// touches memory outside of launch(), or keeps a pointer to the caller's variables, gives wrong results here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <deque>

#include "mindtorch/runtime/caching_allocator.h"
#include "tests/runtime/nn_op_cases.h"

namespace mindtorch::testing {
namespace {

class FilledMemory : public RawMemory {
 public:
  void* reserve(std::size_t bytes) override {
    void* data = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    std::memset(data, 0xA5, bytes);
    return data;
  }
  void release(void* data, std::size_t) override { std::free(data); }
  Amount amount() const override { return {}; }
};

class SameAddresses final : public AddressMap {
  void* translate(const void* address) const override { return const_cast<void*>(address); }
};

// One stream, run to its end by synchronize() and by copies.
class LateDevice : public DeviceBackend {
 public:
  DeviceType type() const override { return kCUDA; }
  Status availability() const override { return Status::ok(); }
  int device_count() const override { return 1; }
  CachingAllocator& allocator(Device) override { return allocator_; }
  void launch(Device, const char* kernel, Work work) override {
    std::lock_guard lock(mutex_);
    names_.emplace_back(kernel);
    queue_.push_back(std::move(work));
  }
  void copy(Device device, void* to, const void* from, std::size_t bytes, CopyKind, bool) override {
    launch(device, "memcpy", [=](const AddressMap&) { std::memcpy(to, from, bytes); });
    synchronize(device);
  }
  void synchronize(Device) override {
    std::lock_guard lock(mutex_);
    while (!queue_.empty()) {
      const Work work = std::move(queue_.front());
      queue_.pop_front();
      work(SameAddresses());
    }
  }
  std::vector<std::string> take_names() {
    std::lock_guard lock(mutex_);
    return std::exchange(names_, {});
  }

 private:
  FilledMemory memory_;
  CachingAllocator allocator_{Device(kCUDA), memory_};
  std::recursive_mutex mutex_;
  std::deque<Work> queue_;
  std::vector<std::string> names_;
};

LateDevice& late_device() {
  static auto* device = [] {
    auto* made = new LateDevice();
    register_device_backend(*made);
    return made;
  }();
  return *device;
}

class DeviceSeam : public ::testing::TestWithParam<OpCase> {};

TEST_P(DeviceSeam, GivesTheValuesAndGradientsOfTheCpu) {
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

INSTANTIATE_TEST_SUITE_P(Ops, DeviceSeam, ::testing::ValuesIn(every_op_case()), [](const auto& tested) { return tested.param.name; });

TEST(DeviceSeamRules, KernelsAreNamedAndRunOnTheDevice) {
  LateDevice& device = late_device();
  const Tensor x = ones({3}, {.device = Device(kCUDA)});
  device.take_names();
  const Tensor y = x + x;
  EXPECT_THAT(device.take_names(), ::testing::ElementsAre("add"));
  EXPECT_THAT(y.to_vector<double>(), ::testing::ElementsAre(2, 2, 2));
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
