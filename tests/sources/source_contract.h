// What every source must do, whatever it watches: one suite of tests, run for each source on each device it can be tried on.
// A test file makes a WatchedDevice and instantiates the suite: INSTANTIATE_TEST_SUITE_P(Reference, SourceContract, Values(...)).
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mindtorch/record/source.h"

namespace mindtorch::sources {

// When a piece of work really ran, in CLOCK_MONOTONIC nanoseconds.
struct TrueWork {
  std::uint64_t correlation = 0;
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
};

// A device and the source that watches it, as the contract uses them.
class WatchedDevice {
 public:
  virtual ~WatchedDevice() = default;
  virtual record::ActivitySource& source() = 0;
  // Streams are numbered 0 .. stream_count() - 1 here; at least two, on all devices together.
  virtual int stream_count() const = 0;
  // A small kernel; any thread.
  virtual void launch(int stream, const std::string& name) = 0;
  virtual void wait_until_idle() = 0;
  // Everything that ran since the last call, if the device can tell.
  virtual std::optional<std::vector<TrueWork>> truth() { return std::nullopt; }
};

struct ContractCase {
  std::string name;
  std::function<std::unique_ptr<WatchedDevice>()> make;
};

class SourceContract : public testing::TestWithParam<ContractCase> {
 protected:
  void SetUp() override { device_ = GetParam().make(); }

  record::ActivitySource& source() { return device_->source(); }
  void start();
  // Everything since start(): nothing may be lost here.
  record::DeviceBatch stop();
  // Launches `count` kernels named prefix0, prefix1, ... on the streams in turn.
  void launch_many(int count, const std::string& prefix);

  std::unique_ptr<WatchedDevice> device_;
};

// The records of one kind of thing.
std::vector<const record::DeviceRecord*> kernels_of(const record::DeviceBatch& batch);
std::vector<const record::DeviceRecord*> launches_of(const record::DeviceBatch& batch);  // runtime calls that caused device work

}  // namespace mindtorch::sources
