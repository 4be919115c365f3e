// The contract of a source, kept by the CUPTI source on the double of libcupti as it behaves and misbehaves.
// Tests mindtorch/record/open_op too.
#include <cstdlib>

#include "mindtorch/sources/cupti/cupti_source.h"
#include "tests/doubles/cupti/cupti_double.h"
#include "tests/sources/source_contract.h"

namespace mindtorch::sources {
namespace {

struct Behaviour {
  CuptiDoubleFaults faults;
  CuptiDoubleLayouts layouts;
  std::uint32_t version = 130001;
  std::int64_t clock_offset_ns = 0;
  double clock_drift_ppm = 0;
  bool has_call_records = false;
};

class CuptiDevice : public WatchedDevice {
 public:
  explicit CuptiDevice(const Behaviour& behaviour) {
    ::setenv("MINDTORCH_LIBRARY_PATH", "cuda=" CUDA_DRIVER_DOUBLE, 1);
    if (behaviour.has_call_records) ::setenv("MINDTORCH_CUPTI_RECORDS", "calls", 1);
    cupti_double_reset();
    cupti_double_set_version(behaviour.version);
    cupti_double_set_faults(&behaviour.faults);
    cupti_double_set_layouts(&behaviour.layouts);
    cupti_double_set_clock(behaviour.clock_offset_ns, behaviour.clock_drift_ppm);
  }
  ~CuptiDevice() override {
    ::unsetenv("MINDTORCH_CUPTI_RECORDS");
    EXPECT_STREQ(cupti_double_violations(), "");
  }
  record::ActivitySource& source() override { return source_; }
  int stream_count() const override { return 3; }
  void launch(int stream, const std::string& name) override {
    const CuptiDoubleWork work{.stream = static_cast<std::uint32_t>(7 + stream), .name = name.c_str()};
    cupti_double_issue(&work);
  }
  void wait_until_idle() override { cupti_double_synchronize(); }
  std::optional<std::vector<TrueWork>> truth() override {
    std::vector<CuptiDoubleTruth> truth(cupti_double_take_truth(nullptr, 0));
    cupti_double_take_truth(truth.data(), truth.size());
    std::vector<TrueWork> all;
    for (const CuptiDoubleTruth& work : truth) all.push_back({work.correlation, work.monotonic_start_ns, work.monotonic_end_ns});
    return all;
  }

 private:
  cupti::CuptiSource source_;
};

ContractCase on(std::string name, Behaviour behaviour) {
  return {std::move(name), [behaviour] { return std::make_unique<CuptiDevice>(behaviour); }};
}

INSTANTIATE_TEST_SUITE_P(Cupti, SourceContract,
                         testing::Values(on("AsShipped", {}), on("OlderLibrary", {.version = 26}),
                                         on("ClockAhead", {.clock_offset_ns = 3'600'000'000'000}),
                                         on("DriftingClock", {.clock_drift_ppm = 200}), on("Shuffled", {.faults = {.shuffle_seed = 7}}),
                                         on("CallRecords", {.has_call_records = true}),
                                         on("ShuffledCallRecords", {.faults = {.shuffle_seed = 7}, .has_call_records = true}),
                                         on("UserDefinedCallRecords", {.version = 130401, .has_call_records = true}),
                                         on("UserDefined", {.version = 130401}), on("UserDefinedWithoutApiOptions", {.version = 130300}),
                                         on("ChangingLayouts", {.faults = {.shuffle_seed = 3},
                                                                .layouts = {.seed = 5, .change_every = 1, .correlation_base = 0},
                                                                .version = 130401})),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace mindtorch::sources
