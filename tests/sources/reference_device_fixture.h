// The reference device as the contract of sources uses it, whoever records it.
#pragma once

#include <string>
#include <vector>

#include "mindtorch/reference_device/truth.h"
#include "tests/sources/source_contract.h"
#include "tests/support/powered.h"

namespace mindtorch::sources {

// Four streams on one device or two. Who records it adds source().
class WatchedReferenceDevice : public WatchedDevice {
 public:
  explicit WatchedReferenceDevice(const reference_device::Config& config) : devices_(config.devices), on_(config) {
    for (int i = 0; i < 2; ++i) {
      streams_.push_back(reference_device::main_stream(i % devices_));
      streams_.push_back(reference_device::new_stream(i % devices_));
    }
  }
  int stream_count() const override { return static_cast<int>(streams_.size()); }
  void launch(int stream, const std::string& name) override {
    EXPECT_EQ(reference_device::launch(streams_.at(static_cast<std::size_t>(stream)), name, reference_device::nothing()),
              reference_device::Result::kSuccess);
  }
  void wait_until_idle() override {
    for (int i = 0; i < devices_; ++i) EXPECT_EQ(reference_device::synchronize_device(i), reference_device::Result::kSuccess);
  }
  std::optional<std::vector<TrueWork>> truth() override {
    std::vector<TrueWork> all;
    for (const reference_device::Truth& work : reference_device::take_truth())
      all.push_back({work.correlation, work.start_ns, work.end_ns});
    return all;
  }

  // A device that tells the truth about its work.
  static reference_device::Config truthful(reference_device::Config config) {
    config.memory_bytes = 4096;
    config.keep_truth = true;
    return config;
  }

 private:
  const int devices_;
  reference_device::Powered on_;
  std::vector<reference_device::Stream*> streams_;
};

}  // namespace mindtorch::sources
