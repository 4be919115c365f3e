// The contract of a source, kept by the MSPTI source on the doubles of libmspti as they behave and misbehave.
#include "tests/sources/mspti_fixture.h"
#include "tests/sources/reference_device_fixture.h"

namespace mindtorch::sources {
namespace {

struct Behaviour {
  int version = 262;
  reference_device::Config config;
  std::int64_t clock_offset_ns = 0;  // of the library's host clock
  double clock_drift_ppm = 0;
};

class MsptiDevice : public WatchedReferenceDevice {
 public:
  explicit MsptiDevice(const Behaviour& behaviour) : WatchedReferenceDevice(truthful(behaviour.config)), double_(behaviour.version) {
    double_->set_host_clock(behaviour.clock_offset_ns, behaviour.clock_drift_ppm);
  }
  record::ActivitySource& source() override { return source_; }

 private:
  MsptiDouble double_;
  mspti::MsptiSource source_;
};

ContractCase on(std::string name, const Behaviour& behaviour) {
  return {std::move(name), [behaviour] { return std::make_unique<MsptiDevice>(behaviour); }};
}

INSTANTIATE_TEST_SUITE_P(Mspti, SourceContract,
                         testing::Values(on("AsShipped", {}), on("Version261", {.version = 261}), on("Version260", {.version = 260}),
                                         on("Cann85", {.version = 85}), on("TwoDevices", {.config = {.devices = 2}}),
                                         on("SkewedAndDriftingDeviceClock",
                                            {.config = {.clock = {.ticks_per_ns = 0.05, .drift_ppm = -80, .offset_ticks = 123'456'789}}}),
                                         on("HostClockAhead", {.clock_offset_ns = 3'600'000'000'000}),
                                         on("DriftingHostClock", {.clock_drift_ppm = 200})),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace mindtorch::sources
