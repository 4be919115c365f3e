// PM sampling: hardware counters of a device, read by the device itself at an interval, as counters of the recording.
//
// The device writes samples into a buffer of a fixed size. The thread that decodes CUPTI's records fetches them often enough, so sampling
// needs no thread of its own. Times of samples are on CUPTI's clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/record/source.h"
#include "mindtorch/sources/cupti/library.h"
#include "mindtorch/sources/cupti/pm_sampling_abi.h"
#include "mindtorch/sources/record_store.h"

namespace mindtorch::sources::cupti {

// The sampling of one device, from start() to stop(). One thread at a time.
class DeviceSampling {
 public:
  DeviceSampling(const Library& library, const PmFunctions& functions, std::size_t device, const record::DeviceExtras& extras);
  ~DeviceSampling();
  DeviceSampling(const DeviceSampling&) = delete;
  DeviceSampling& operator=(const DeviceSampling&) = delete;

  // The reason of a failure says what the user can do.
  Status start();
  // Moves the samples that the device has written to the store. `now` is CUPTI's time.
  void collect(RecordStore& store, std::uint64_t now);
  // How long collect() may be put off while nothing is lost, with a margin for a thread that comes late.
  std::chrono::milliseconds longest_wait() const;
  // The same as collect() for what is left.
  void stop(RecordStore& store, std::uint64_t now);

 private:
  // For at most `patience`, because short intervals may give samples faster than they can be decoded. False if there are more.
  bool collect_for(std::chrono::milliseconds patience, RecordStore& store, std::uint64_t now);
  Status open_host();
  Status configure();
  Status set_trigger();
  Status make_image();
  Status decode(RecordStore& store, std::uint64_t now, bool* has_more);
  Status store_sample(RecordStore& store, std::size_t sample, std::uint64_t now);
  Status clear_image();
  void count_missing(RecordStore& store, std::uint64_t until);
  void close();

  const Library& library_;
  const PmFunctions& cupti_;
  const std::size_t device_;
  const std::vector<std::string> metrics_;
  const std::chrono::nanoseconds interval_;
  std::vector<const char*> names_;  // of metrics_
  std::vector<std::uint8_t> availability_;
  std::vector<std::uint8_t> config_;  // kept: CUPTI reads it when it decodes
  HostObject* host_ = nullptr;
  SamplingObject* sampling_ = nullptr;
  std::uint32_t samples_in_image_ = 0;
  std::vector<std::uint8_t> image_;
  std::vector<double> values_;
  std::uint64_t last_end_ = 0;    // of a sample that was stored, or 0
  bool is_tail_missing_ = false;  // the image was too small for what came after it
  std::uint64_t misplaced_ = 0;
  bool is_running_ = false;
};

// The sampling of all devices.
class PmSampling {
 public:
  // Samples what the options ask for. What cannot be sampled becomes a sentence in `limits`.
  void start(const Library& library, const record::DeviceExtras& extras, std::vector<std::string>& limits);
  void collect(RecordStore& store, std::uint64_t now);
  void stop(RecordStore& store, std::uint64_t now);
  // How long collect() may be put off: `otherwise`, or less if devices are sampled.
  std::chrono::milliseconds longest_wait(std::chrono::milliseconds otherwise) const;

 private:
  Status resolve(const Library& library);

  PmFunctions functions_;
  bool is_initialized_ = false;  // CUPTI does not count how often it was, so it stays so
  std::vector<std::unique_ptr<DeviceSampling>> devices_;
};

}  // namespace mindtorch::sources::cupti
