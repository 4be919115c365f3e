// PM sampling of the double: one GPU whose metrics count samples. It checks that calls come in CUPTI's order and with CUPTI's sizes.
#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mindtorch/sources/cupti/pm_sampling_abi.h"
#include "tests/doubles/cupti/exports.h"

namespace {

using namespace mindtorch::sources::cupti;
using cupti_double::report_violation;

#define PM_FUNCTION(name, arguments)                                                                 \
  extern "C" __attribute__((visibility("default"))) Result name arguments;                           \
  static_assert(std::is_same_v<decltype(&name), decltype(PmFunctions::name)>, "not CUPTI's " #name); \
  extern "C" Result name arguments

// The size that CUPTI's headers give to the struct, and whether this call is told to fail.
#define CHECK_PARAMS(last)                                                                                \
  RETURN_IF_TOLD_TO_FAIL();                                                                               \
  if (params->struct_size != MINDTORCH_CUPTI_SIZE_UP_TO(std::remove_pointer_t<decltype(params)>, last)) { \
    report_violation(std::string(__func__) + " was called with a struct of another size");                \
    return kInvalidParameter;                                                                             \
  }                                                                                                       \
  if (params->priv != nullptr) return kInvalidParameter

constexpr std::size_t kAvailabilityBytes = 40, kConfigBytes = 24;
constexpr std::uint64_t kAgeOfFirstSample = 3'000'000'000;

struct Sample {
  std::uint64_t start, end;
};

// What the hardware and the two objects of the library hold. A counter data image is a list of samples behind their number.
struct Sampler {
  std::mutex mutex;
  bool has_host = false, is_enabled = false, is_running = false;
  std::size_t metrics = 0, passes = 1;
  std::uint32_t trigger = kGpuTimeInterval;
  const std::uint8_t* config = nullptr;  // of the client
  std::uint64_t interval = 0;
  std::uint64_t next_sample = 0;  // when the hardware takes it, on the double's clock
  bool is_first = true;
  std::uint64_t stopped_at = 0;  // 0: it goes on
  bool overflow = false;
  std::size_t taken = 0;
};
Sampler& sampler() {
  static auto& one = *new Sampler();
  return one;
}

std::size_t capacity(std::size_t image_bytes) { return (image_bytes - sizeof(std::uint64_t)) / sizeof(Sample); }
std::uint64_t& sample_count(std::uint8_t* image) { return *reinterpret_cast<std::uint64_t*>(image); }
Sample* samples(std::uint8_t* image) { return reinterpret_cast<Sample*>(image + sizeof(std::uint64_t)); }

bool is_known(std::string_view metric) { return metric.find("__") != metric.npos && !metric.starts_with("no__"); }

}  // namespace

PM_FUNCTION(cuptiProfilerInitialize, (ProfilerInitializeParams * params)) {
  CHECK_PARAMS(priv);
  return kSuccess;
}

PM_FUNCTION(cuptiDeviceGetChipName, (GetChipNameParams * params)) {
  CHECK_PARAMS(chip_name);
  params->chip_name = "GH100";
  return kSuccess;
}

PM_FUNCTION(cuptiPmSamplingGetCounterAvailability, (GetCounterAvailabilityParams * params)) {
  CHECK_PARAMS(counter_availability_image);
  if (params->counter_availability_image == nullptr) {
    params->counter_availability_image_size = kAvailabilityBytes;
  } else if (params->counter_availability_image_size != kAvailabilityBytes) {
    return kInvalidParameter;
  } else {
    std::memset(params->counter_availability_image, 1, kAvailabilityBytes);
  }
  return kSuccess;
}

PM_FUNCTION(cuptiProfilerHostInitialize, (HostInitializeParams * params)) {
  CHECK_PARAMS(host_object);
  if (params->profiler_type != kPmSamplingProfiler || std::string_view(params->chip_name) != "GH100" ||
      params->counter_availability_image[0] != 1)
    return kInvalidParameter;
  std::lock_guard lock(sampler().mutex);
  if (std::exchange(sampler().has_host, true)) report_violation("a second host object was made");
  params->host_object = &sampler();
  return kSuccess;
}

PM_FUNCTION(cuptiProfilerHostDeinitialize, (HostDeinitializeParams * params)) {
  CHECK_PARAMS(host_object);
  std::lock_guard lock(sampler().mutex);
  if (!std::exchange(sampler().has_host, false)) report_violation("a host object was destroyed twice");
  return kSuccess;
}

PM_FUNCTION(cuptiProfilerHostConfigAddMetrics, (ConfigAddMetricsParams * params)) {
  CHECK_PARAMS(num_metrics);
  for (std::size_t m = 0; m < params->num_metrics; ++m)
    if (!is_known(params->metric_names[m])) return kInvalidParameter;
  std::lock_guard lock(sampler().mutex);
  sampler().metrics = params->num_metrics;
  sampler().passes = params->num_metrics > 4 ? 2 : 1;
  return kSuccess;
}

PM_FUNCTION(cuptiProfilerHostGetConfigImageSize, (GetConfigImageSizeParams * params)) {
  CHECK_PARAMS(config_image_size);
  params->config_image_size = kConfigBytes;
  return kSuccess;
}

PM_FUNCTION(cuptiProfilerHostGetConfigImage, (GetConfigImageParams * params)) {
  CHECK_PARAMS(config_image);
  if (params->config_image_size != kConfigBytes) return kInvalidParameter;
  std::memset(params->config_image, 2, kConfigBytes);
  return kSuccess;
}

PM_FUNCTION(cuptiProfilerHostGetNumOfPasses, (GetNumOfPassesParams * params)) {
  CHECK_PARAMS(num_of_passes);
  std::lock_guard lock(sampler().mutex);
  params->num_of_passes = sampler().passes;
  return kSuccess;
}

PM_FUNCTION(cuptiPmSamplingEnable, (SamplingEnableParams * params)) {
  CHECK_PARAMS(sampling_object);
  std::lock_guard lock(sampler().mutex);
  if (std::exchange(sampler().is_enabled, true)) report_violation("PM sampling was enabled twice");
  params->sampling_object = &sampler();
  return kSuccess;
}

PM_FUNCTION(cuptiPmSamplingDisable, (SamplingObjectParams * params)) {
  CHECK_PARAMS(sampling_object);
  std::lock_guard lock(sampler().mutex);
  if (!std::exchange(sampler().is_enabled, false)) report_violation("PM sampling was disabled twice");
  sampler().is_running = false;
  return kSuccess;
}

PM_FUNCTION(cuptiPmSamplingSetConfig, (SetConfigParams * params)) {
  CHECK_PARAMS(append_mode);
  if (params->config_size != kConfigBytes || params->config[0] != 2 || params->sampling_interval == 0) return kInvalidParameter;
  std::lock_guard lock(sampler().mutex);
  sampler().trigger = params->trigger_mode;
  sampler().config = params->config;
  sampler().interval = params->sampling_interval;
  return kSuccess;
}

PM_FUNCTION(cuptiPmSamplingGetCounterDataSize, (GetCounterDataSizeParams * params)) {
  CHECK_PARAMS(counter_data_size);
  params->counter_data_size = sizeof(std::uint64_t) + params->max_samples * sizeof(Sample);
  return kSuccess;
}

PM_FUNCTION(cuptiPmSamplingCounterDataImageInitialize, (CounterDataInitializeParams * params)) {
  CHECK_PARAMS(counter_data);
  std::memset(params->counter_data, 0, params->counter_data_size);
  return kSuccess;
}

PM_FUNCTION(cuptiPmSamplingStart, (SamplingObjectParams * params)) {
  CHECK_PARAMS(sampling_object);
  std::lock_guard lock(sampler().mutex);
  if (sampler().interval == 0) report_violation("PM sampling was started before it was configured");
  sampler().is_running = sampler().is_first = true;
  sampler().next_sample = library().clock.now();
  sampler().stopped_at = 0;
  return kSuccess;
}

PM_FUNCTION(cuptiPmSamplingStop, (SamplingObjectParams * params)) {
  CHECK_PARAMS(sampling_object);
  std::lock_guard lock(sampler().mutex);
  if (!sampler().is_running) report_violation("PM sampling was stopped without having been started");
  sampler().stopped_at = library().clock.now();
  return kSuccess;
}

PM_FUNCTION(cuptiPmSamplingDecodeData, (DecodeDataParams * params)) {
  CHECK_PARAMS(overflow);
  std::lock_guard lock(sampler().mutex);
  // The vendor's library reads the client's image here, so it must still be there.
  if (std::any_of(sampler().config, sampler().config + kConfigBytes, [](std::uint8_t byte) { return byte != 2; }))
    report_violation("the image of the configuration was changed or freed while PM sampling ran");
  std::uint8_t* const image = params->counter_data_image;
  const std::size_t room = capacity(params->counter_data_image_size);
  const std::uint64_t now = sampler().stopped_at != 0 ? sampler().stopped_at : library().clock.now();
  std::uint64_t& count = sample_count(image);
  if (count != 0) report_violation("a counter data image was used again before it was cleared");
  for (; sampler().next_sample + sampler().interval <= now; sampler().next_sample += sampler().interval) {
    if (count == room) continue;  // what does not fit is gone
    // The first sample begins when the device was sampled before.
    const std::uint64_t age = std::exchange(sampler().is_first, false) ? kAgeOfFirstSample : 0;
    samples(image)[count++] = {sampler().next_sample - age, sampler().next_sample + sampler().interval};
  }
  params->decode_stop_reason = count == room ? kCounterDataFull : kEndOfRecords;
  params->overflow = std::exchange(sampler().overflow, false) ? 1 : 0;
  return kSuccess;
}

PM_FUNCTION(cuptiPmSamplingGetCounterDataInfo, (GetCounterDataInfoParams * params)) {
  CHECK_PARAMS(num_completed_samples);
  params->num_total_samples = capacity(params->counter_data_image_size);
  std::memcpy(&params->num_completed_samples, params->counter_data_image, sizeof(params->num_completed_samples));
  params->num_populated_samples = params->num_completed_samples;
  return kSuccess;
}

PM_FUNCTION(cuptiPmSamplingCounterDataGetSampleInfo, (GetSampleInfoParams * params)) {
  CHECK_PARAMS(end_timestamp);
  Sample sample{};
  std::memcpy(&sample, params->counter_data_image + sizeof(std::uint64_t) + params->sample_index * sizeof(Sample), sizeof(sample));
  params->start_timestamp = sample.start;
  params->end_timestamp = sample.end;
  return kSuccess;
}

// Metric m of the n-th sample that is evaluated is n + m / 10.
PM_FUNCTION(cuptiProfilerHostEvaluateToGpuValues, (EvaluateToGpuValuesParams * params)) {
  CHECK_PARAMS(metric_values);
  std::lock_guard lock(sampler().mutex);
  if (params->num_metrics != sampler().metrics) return kInvalidParameter;
  for (std::size_t m = 0; m < params->num_metrics; ++m)
    params->metric_values[m] = static_cast<double>(sampler().taken) + static_cast<double>(m) / 10;
  ++sampler().taken;
  return kSuccess;
}

void cupti_double_reset_sampling() {
  std::lock_guard lock(sampler().mutex);
  sampler().has_host = sampler().is_enabled = sampler().is_running = sampler().overflow = false;
  sampler().interval = sampler().taken = 0;
}

void cupti_double_overflow_sampling() {
  std::lock_guard lock(sampler().mutex);
  sampler().overflow = true;
}

bool cupti_double_is_sampling() {
  std::lock_guard lock(sampler().mutex);
  return sampler().is_enabled || sampler().has_host;
}

std::uint64_t cupti_double_samples_taken() {
  std::lock_guard lock(sampler().mutex);
  return sampler().taken;
}
