// Starting, fetching and stopping PM sampling.
#include "mindtorch/sources/cupti/pm_sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mindtorch/sources/cupti/driver.h"

namespace mindtorch::sources::cupti {
namespace {

constexpr std::size_t kHardwareBuffer = std::size_t{64} << 20;
// CUPTI decodes everything that the device has written and drops what does not fit into the image. So the image has room for what the
// device writes in this time, and samples are fetched four times as often. A sample takes 7 to 20 KB in the image.
constexpr std::chrono::nanoseconds kTimeInImage = std::chrono::milliseconds(400);
constexpr std::int64_t kLeastInImage = 256, kMostInImage = 16384;
// How long samples are decoded at a time, while records of the device wait, and when sampling has ended.
constexpr std::chrono::milliseconds kPatience(200), kLastPatience(2000);
// A sample that is farther than this from now was not stamped by CUPTI's clock.
constexpr std::uint64_t kFarAway = 60'000'000'000;

std::string_view unit_of(std::string_view metric) { return metric.find(".pct") != metric.npos ? "%" : ""; }

// What the user can do about a call that failed, besides what Library::check() says.
std::string_view hint(std::string_view call, Result result) {
  if (call == "cuptiProfilerHostConfigAddMetrics") return "; the GPU may not have such a metric: `ncu --query-metrics` lists those it has";
  if (call == "cuptiPmSamplingEnable" && result != kInsufficientPrivileges) return "; another tool, such as DCGM, may be sampling the GPU";
  if (call == "cuptiProfilerHostInitialize") return "; libnvperf_host.so must lie beside libcupti";
  return "";
}

}  // namespace

DeviceSampling::DeviceSampling(const Library& library, const PmFunctions& functions, std::size_t device, const record::DeviceExtras& extras)
    : library_(library),
      cupti_(functions),
      device_(device),
      metrics_(extras.metrics),
      interval_(std::max(extras.metrics_interval, std::chrono::nanoseconds(1))) {
  samples_in_image_ = static_cast<std::uint32_t>(std::clamp<std::int64_t>(kTimeInImage / interval_, kLeastInImage, kMostInImage));
  for (const std::string& metric : metrics_) names_.push_back(metric.c_str());
  values_.resize(metrics_.size());
}

DeviceSampling::~DeviceSampling() { close(); }

// Calls a function with a struct of its parameters, whose size is set here. Leaves the calling function if it failed.
#define MINDTORCH_PM_CALL(function, params, last)                                                                           \
  do {                                                                                                                      \
    (params).struct_size = MINDTORCH_CUPTI_SIZE_UP_TO(std::remove_reference_t<decltype(params)>, last);                     \
    if (const Result result = cupti_.function(&(params)); result != kSuccess)                                               \
      return Status::unavailable(fmt::format("{}{}", library_.check(result, #function).reason(), hint(#function, result))); \
  } while (false)

Status DeviceSampling::open_host() {
  GetChipNameParams chip{.device_index = device_};
  MINDTORCH_PM_CALL(cuptiDeviceGetChipName, chip, chip_name);
  GetCounterAvailabilityParams availability{.device_index = device_};
  MINDTORCH_PM_CALL(cuptiPmSamplingGetCounterAvailability, availability, counter_availability_image);
  availability_.resize(availability.counter_availability_image_size);
  availability.counter_availability_image = availability_.data();
  MINDTORCH_PM_CALL(cuptiPmSamplingGetCounterAvailability, availability, counter_availability_image);
  HostInitializeParams host{.profiler_type = kPmSamplingProfiler, .chip_name = chip.chip_name};
  host.counter_availability_image = availability_.data();
  MINDTORCH_PM_CALL(cuptiProfilerHostInitialize, host, host_object);
  host_ = host.host_object;
  return Status::ok();
}

Status DeviceSampling::configure() {
  ConfigAddMetricsParams add{.host_object = host_, .metric_names = names_.data(), .num_metrics = names_.size()};
  MINDTORCH_PM_CALL(cuptiProfilerHostConfigAddMetrics, add, num_metrics);
  GetConfigImageSizeParams size{.host_object = host_};
  MINDTORCH_PM_CALL(cuptiProfilerHostGetConfigImageSize, size, config_image_size);
  config_.resize(size.config_image_size);
  GetConfigImageParams image{.host_object = host_, .config_image_size = config_.size(), .config_image = config_.data()};
  MINDTORCH_PM_CALL(cuptiProfilerHostGetConfigImage, image, config_image);
  GetNumOfPassesParams passes{.config_image_size = config_.size(), .config_image = config_.data()};
  MINDTORCH_PM_CALL(cuptiProfilerHostGetNumOfPasses, passes, num_of_passes);
  if (passes.num_of_passes != 1)
    return Status::unavailable(
        fmt::format("the GPU needs {} passes to measure these metrics, and sampling has one; ask for fewer of them", passes.num_of_passes));
  SamplingEnableParams enable{.device_index = device_};
  MINDTORCH_PM_CALL(cuptiPmSamplingEnable, enable, sampling_object);
  sampling_ = enable.sampling_object;
  return set_trigger();
}

// Some GPUs (Turing, A100) cannot count nanoseconds, but cycles of a clock that takes about as long.
Status DeviceSampling::set_trigger() {
  SetConfigParams set{.sampling_object = sampling_, .config_size = config_.size(), .config = config_.data()};
  set.hardware_buffer_size = kHardwareBuffer;
  set.sampling_interval = static_cast<std::uint64_t>(interval_.count());
  set.trigger_mode = kGpuTimeInterval;
  set.append_mode = kKeepOldest;
  set.struct_size = MINDTORCH_CUPTI_SIZE_UP_TO(SetConfigParams, append_mode);
  if (cupti_.cuptiPmSamplingSetConfig(&set) == kSuccess) return Status::ok();
  set.trigger_mode = kGpuSysclkInterval;
  MINDTORCH_PM_CALL(cuptiPmSamplingSetConfig, set, append_mode);
  return Status::ok();
}

Status DeviceSampling::make_image() {
  GetCounterDataSizeParams size{.sampling_object = sampling_, .sampled_metric_names = names_.data(), .num_metrics = names_.size()};
  size.max_samples = samples_in_image_;
  MINDTORCH_PM_CALL(cuptiPmSamplingGetCounterDataSize, size, counter_data_size);
  image_.resize(size.counter_data_size);
  return clear_image();
}

Status DeviceSampling::clear_image() {
  CounterDataInitializeParams clear{.sampling_object = sampling_, .counter_data_size = image_.size(), .counter_data = image_.data()};
  MINDTORCH_PM_CALL(cuptiPmSamplingCounterDataImageInitialize, clear, counter_data);
  return Status::ok();
}

Status DeviceSampling::start() {
  for (const auto step : {&DeviceSampling::open_host, &DeviceSampling::configure, &DeviceSampling::make_image})
    if (Status status = (this->*step)(); !status) return status;
  SamplingObjectParams begin{.sampling_object = sampling_};
  MINDTORCH_PM_CALL(cuptiPmSamplingStart, begin, sampling_object);
  is_running_ = true;
  return Status::ok();
}

Status DeviceSampling::store_sample(RecordStore& store, std::size_t sample, std::uint64_t now) {
  GetSampleInfoParams info{.sampling_object = sampling_, .counter_data_image = image_.data(), .counter_data_image_size = image_.size()};
  info.sample_index = sample;
  MINDTORCH_PM_CALL(cuptiPmSamplingCounterDataGetSampleInfo, info, end_timestamp);
  // The first sample starts when the device was last sampled, maybe minutes ago.
  const std::uint64_t time = std::max(info.start_timestamp, info.end_timestamp - static_cast<std::uint64_t>(interval_.count()));
  if (time > now + kFarAway || time + kFarAway < now) {
    ++misplaced_;
    return Status::ok();
  }
  count_missing(store, info.start_timestamp);
  last_end_ = info.end_timestamp;
  EvaluateToGpuValuesParams evaluate{.host_object = host_, .counter_data_image = image_.data(), .counter_data_image_size = image_.size()};
  evaluate.range_index = sample;
  evaluate.metric_names = names_.data();
  evaluate.num_metrics = names_.size();
  evaluate.metric_values = values_.data();
  MINDTORCH_PM_CALL(cuptiProfilerHostEvaluateToGpuValues, evaluate, metric_values);
  const trace::Device device{trace::DeviceType::kCuda, static_cast<std::uint8_t>(device_)};
  for (std::size_t m = 0; m < metrics_.size(); ++m)
    store.store_sample(store.counter_id(metrics_[m], unit_of(metrics_[m]), device), time, values_[m]);
  return Status::ok();
}

// Samples follow each other without a gap, so a gap tells how many are missing.
void DeviceSampling::count_missing(RecordStore& store, std::uint64_t until) {
  const auto interval = static_cast<std::uint64_t>(interval_.count());
  if (last_end_ == 0 || until < last_end_ + interval) return;
  store.count_dropped((until - last_end_) / interval, "samples of hardware counters, because they were not fetched in time");
}

Status DeviceSampling::decode(RecordStore& store, std::uint64_t now, bool* has_more) {
  DecodeDataParams data{.sampling_object = sampling_, .counter_data_image = image_.data(), .counter_data_image_size = image_.size()};
  MINDTORCH_PM_CALL(cuptiPmSamplingDecodeData, data, overflow);
  *has_more = data.decode_stop_reason == kCounterDataFull;
  if (data.overflow != 0) {
    store.count_dropped(1, "or more samples of hardware counters, because the device's buffer was full");
    last_end_ = 0;  // the gap is told
  }
  GetCounterDataInfoParams info{.counter_data_image = image_.data(), .counter_data_image_size = image_.size()};
  MINDTORCH_PM_CALL(cuptiPmSamplingGetCounterDataInfo, info, num_completed_samples);
  if (info.num_completed_samples != 0) is_tail_missing_ = *has_more;
  for (std::size_t sample = 0; sample < info.num_completed_samples; ++sample)
    if (Status status = store_sample(store, sample, now); !status) return status;
  return clear_image();
}

std::chrono::milliseconds DeviceSampling::longest_wait() const {
  return std::chrono::ceil<std::chrono::milliseconds>(interval_ * samples_in_image_ / 4);
}

bool DeviceSampling::collect_for(std::chrono::milliseconds patience, RecordStore& store, std::uint64_t now) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (bool has_more = is_running_; has_more;) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    const Status decoded = decode(store, now, &has_more);
    if (decoded) continue;
    store.count_dropped(1, fmt::format("or more samples of hardware counters ({})", decoded.reason()));
    is_running_ = has_more = false;
  }
  return true;
}

void DeviceSampling::collect(RecordStore& store, std::uint64_t now) { collect_for(kPatience, store, now); }

void DeviceSampling::stop(RecordStore& store, std::uint64_t now) {
  SamplingObjectParams end{.sampling_object = sampling_};
  end.struct_size = MINDTORCH_CUPTI_SIZE_UP_TO(SamplingObjectParams, sampling_object);
  if (sampling_ != nullptr) cupti_.cuptiPmSamplingStop(&end);
  if (!collect_for(kLastPatience, store, now))
    store.count_dropped(1, "or more samples of hardware counters, because they came faster than they could be decoded");
  if (is_tail_missing_) count_missing(store, now);
  store.count_dropped(misplaced_, "samples of hardware counters, whose times are not on CUPTI's clock");
  misplaced_ = 0;
  is_running_ = false;
  close();
}

void DeviceSampling::close() {
  if (sampling_ != nullptr) {
    SamplingObjectParams disable{.sampling_object = std::exchange(sampling_, nullptr)};
    disable.struct_size = MINDTORCH_CUPTI_SIZE_UP_TO(SamplingObjectParams, sampling_object);
    cupti_.cuptiPmSamplingDisable(&disable);
  }
  if (host_ != nullptr) {
    HostDeinitializeParams end{.host_object = std::exchange(host_, nullptr)};
    end.struct_size = MINDTORCH_CUPTI_SIZE_UP_TO(HostDeinitializeParams, host_object);
    cupti_.cuptiProfilerHostDeinitialize(&end);
  }
}

Status PmSampling::resolve(const Library& library) {
  FunctionFinder finder(library.file());
#define MINDTORCH_CUPTI_REQUIRED(name, arguments) finder.require(#name, functions_.name);
  MINDTORCH_CUPTI_PM_FUNCTIONS(MINDTORCH_CUPTI_REQUIRED)
#undef MINDTORCH_CUPTI_REQUIRED
  if (!finder.missing().empty())
    return Status::unavailable(fmt::format("{} lacks {}: CUPTI of CUDA 12.6 or later is needed", library.path(), finder.missing()));
  if (is_initialized_) return Status::ok();
  ProfilerInitializeParams params{.struct_size = MINDTORCH_CUPTI_SIZE_UP_TO(ProfilerInitializeParams, priv)};
  Status status = library.check(functions_.cuptiProfilerInitialize(&params), "cuptiProfilerInitialize");
  is_initialized_ = static_cast<bool>(status);
  return status;
}

void PmSampling::start(const Library& library, const record::DeviceExtras& extras, std::vector<std::string>& limits) {
  devices_.clear();
  if (extras.metrics.empty()) return;
  const auto tell = [&](std::string_view reason) { limits.push_back(fmt::format("hardware counters are not recorded: {}", reason)); };
  if (const Status ready = resolve(library); !ready) return tell(ready.reason());
  const std::size_t count = device_properties().size();
  if (count == 0) tell("the program has not used CUDA yet; use a device before the profile starts");
  for (std::size_t device = 0; device < count; ++device) {
    auto sampling = std::make_unique<DeviceSampling>(library, functions_, device, extras);
    if (const Status started = sampling->start(); !started) {
      tell(fmt::format("GPU {}: {}", device, started.reason()));
    } else {
      devices_.push_back(std::move(sampling));
    }
  }
}

std::chrono::milliseconds PmSampling::longest_wait(std::chrono::milliseconds otherwise) const {
  for (const auto& device : devices_) otherwise = std::min(otherwise, device->longest_wait());
  return otherwise;
}

void PmSampling::collect(RecordStore& store, std::uint64_t now) {
  for (const auto& device : devices_) device->collect(store, now);
}

void PmSampling::stop(RecordStore& store, std::uint64_t now) {
  for (const auto& device : devices_) device->stop(store, now);
  devices_.clear();
}

}  // namespace mindtorch::sources::cupti
