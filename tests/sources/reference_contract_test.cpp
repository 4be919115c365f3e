// The contract of a source, kept by the reference source on reference devices of several kinds.
#include "mindtorch/reference_device/truth.h"
#include "mindtorch/sources/reference/reference_source.h"
#include "tests/sources/source_contract.h"
#include "tests/support/powered.h"

namespace mindtorch::sources {
namespace {

namespace device = reference_device;

class ReferenceDevice : public WatchedDevice {
 public:
  explicit ReferenceDevice(device::Config config) : devices_(config.devices), on_(config) {
    for (int i = 0; i < 2; ++i) {
      streams_.push_back(device::main_stream(i % devices_));
      streams_.push_back(device::new_stream(i % devices_));
    }
  }
  record::ActivitySource& source() override { return source_; }
  int stream_count() const override { return static_cast<int>(streams_.size()); }
  void launch(int stream, const std::string& name) override {
    EXPECT_EQ(device::launch(streams_.at(static_cast<std::size_t>(stream)), name, device::nothing()), device::Result::kSuccess);
  }
  void wait_until_idle() override {
    for (int i = 0; i < devices_; ++i) EXPECT_EQ(device::synchronize_device(i), device::Result::kSuccess);
  }
  std::optional<std::vector<TrueWork>> truth() override {
    std::vector<TrueWork> all;
    for (const device::Truth& work : device::take_truth()) all.push_back({work.correlation, work.start_ns, work.end_ns});
    return all;
  }

 private:
  const int devices_;
  device::Powered on_;
  std::vector<device::Stream*> streams_;
  ReferenceSource source_;
};

ContractCase on(std::string name, device::Config config) {
  config.memory_bytes = 4096;
  config.keep_truth = true;
  return {std::move(name), [config] { return std::make_unique<ReferenceDevice>(config); }};
}

INSTANTIATE_TEST_SUITE_P(Reference, SourceContract,
                         testing::Values(on("AsShipped", {}), on("TwoDevices", {.devices = 2}),
                                         on("CoarseClock", {.clock = {.ticks_per_ns = 0.05}}),
                                         on("FastDriftingClock", {.clock = {.drift_ppm = -20'000}}),
                                         on("WobblingClock", {.clock = {.wobble_ns = 2'000, .wobble_period_ns = 1e9}}),
                                         on("TinyBatches", {.delivery = {.batch_records = 3}}),
                                         on("InOrder", {.delivery = {.disorder_seed = 0}})),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace mindtorch::sources
