// The contract of a source, kept by the MSPTI source on the doubles of libmspti as they behave and misbehave.
#include <thread>

#include "mindtorch/reference_device/truth.h"
#include "tests/sources/mspti_fixture.h"
#include "tests/sources/source_contract.h"

namespace mindtorch::sources {
namespace {

namespace device = reference_device;

struct Behaviour {
  int version = 262;
  device::Config config;
  std::int64_t clock_offset_ns = 0;  // of the library's host clock
  double clock_drift_ppm = 0;
};

class MsptiDevice : public WatchedDevice {
 public:
  explicit MsptiDevice(const Behaviour& behaviour) : devices_(behaviour.config.devices), on_(behaviour.config), double_(behaviour.version) {
    double_->set_host_clock(behaviour.clock_offset_ns, behaviour.clock_drift_ppm);
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
  MsptiDouble double_;
  std::vector<device::Stream*> streams_;
  mspti::MsptiSource source_;
};

ContractCase on(std::string name, Behaviour behaviour) {
  behaviour.config.memory_bytes = 4096;
  behaviour.config.keep_truth = true;
  return {std::move(name), [behaviour] { return std::make_unique<MsptiDevice>(behaviour); }};
}

INSTANTIATE_TEST_SUITE_P(Mspti, SourceContract,
                         testing::Values(on("AsShipped", {}), on("Version26", {.version = 260}), on("Cann85", {.version = 85}),
                                         on("TwoDevices", {.config = {.devices = 2}}),
                                         on("SkewedAndDriftingDeviceClock",
                                            {.config = {.clock = {.ticks_per_ns = 0.05, .drift_ppm = -80, .offset_ticks = 123'456'789}}}),
                                         on("HostClockAhead", {.clock_offset_ns = 3'600'000'000'000}),
                                         on("DriftingHostClock", {.clock_drift_ppm = 200})),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace mindtorch::sources
