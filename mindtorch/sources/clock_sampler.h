// Reads the clocks of a source side by side with the session's, over and over while a session runs, so that records can be mapped.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "mindtorch/record/source.h"

namespace mindtorch::sources {

// The period must be short compared with changes of a clock's rate, because the clock is assumed to run evenly between samples.
// Not thread safe: start(), sample_now() and stop() are called by one thread at a time.
class ClockSampler {
 public:
  // Reads a device's clock; false if that is not possible now. Called from the sampler's thread and from the callers of this class.
  using Reader = std::function<bool(std::uint64_t* ticks)>;
  using Samples = std::vector<record::BracketedSample>;

  explicit ClockSampler(std::chrono::milliseconds period = std::chrono::milliseconds(20)) : period_(period) {}
  ~ClockSampler() { stop(); }

  // Takes a first sample of each clock before it returns; records are mapped well only between the first and the last sample.
  void start(record::Clock& clock, std::vector<Reader> readers);
  void sample_now();
  // The samples that have been taken, one list for each reader. Any thread, until stop() is called.
  std::vector<Samples> so_far();
  // For recordings that may run forever, whose old records have been placed already: if there are more than `most` samples of a clock,
  // drops every second one of the older half. Any thread, until stop() is called.
  void thin(std::size_t most);
  // Takes a last sample; one list for each reader. Empty if not started.
  std::vector<Samples> stop();

 private:
  void sample_periodically();
  void sample_locked();

  const std::chrono::milliseconds period_;
  record::Clock* clock_ = nullptr;
  std::vector<Reader> readers_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stopping_ = false;
  std::vector<Samples> samples_;
  std::thread thread_;
};

}  // namespace mindtorch::sources
