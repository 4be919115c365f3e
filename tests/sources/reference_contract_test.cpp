// The contract of a source, kept by the reference source on reference devices of several kinds.
#include "mindtorch/sources/reference/reference_source.h"
#include "tests/sources/reference_device_fixture.h"

namespace mindtorch::sources {
namespace {

class ReferenceDevice : public WatchedReferenceDevice {
 public:
  using WatchedReferenceDevice::WatchedReferenceDevice;
  record::ActivitySource& source() override { return source_; }

 private:
  ReferenceSource source_;
};

ContractCase on(std::string name, const reference_device::Config& config) {
  return {std::move(name), [config] { return std::make_unique<ReferenceDevice>(WatchedReferenceDevice::truthful(config)); }};
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
