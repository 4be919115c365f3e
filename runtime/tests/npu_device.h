// The NPU that tests of the runtime use: the reference device, switched on once for the whole process.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>

#include "mindtorch/reference_device/device.h"
#include "mindtorch/runtime/kernels/npu/npu.h"

namespace mindtorch::testing {

inline constexpr std::uint64_t kNpuBytes = std::uint64_t{256} << 20;

// Two small devices. The runtime keeps memory of its devices for ever, so they stay on until the process ends.
inline void need_npu() {
  static const bool on = [] {
    return reference_device::power_on({.devices = 2, .memory_bytes = kNpuBytes}) == reference_device::Result::kSuccess;
  }();
  ASSERT_TRUE(on);
}

class NpuTest : public ::testing::Test {
 protected:
  void SetUp() override { need_npu(); }
  void TearDown() override { npu::synchronize(); }
};

// Holds this thread's current stream until it is opened or goes away.
class Hold {
 public:
  explicit Hold(const npu::Stream& stream = npu::Stream::current()) {
    const auto result = reference_device::launch(reinterpret_cast<reference_device::Stream*>(stream.handle()), "hold",
                                                 [open = open_](const reference_device::DeviceView&) { open->wait(false); });
    EXPECT_EQ(result, reference_device::Result::kSuccess);
  }
  ~Hold() { open(); }
  void open() {
    open_->store(true);
    open_->notify_all();
  }

 private:
  std::shared_ptr<std::atomic<bool>> open_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace mindtorch::testing
