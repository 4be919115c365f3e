// Bracketed clock samples, the narrowest of a few attempts each.
#include "mindtorch/sources/clock_sampler.h"

#include <new>
#include <optional>
#include <system_error>
#include <utility>

namespace mindtorch::sources {
namespace {

// An interrupt between the reads widens one bracket, hardly all of them.
constexpr int kAttempts = 8;

std::optional<record::BracketedSample> take_sample(record::Clock& clock, const ClockSampler::Reader& read) {
  std::optional<record::BracketedSample> best;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    record::BracketedSample sample;
    sample.host_before = clock.ticks();
    const bool was_read = read(&sample.device_ticks);
    sample.host_after = clock.ticks();
    if (!was_read) return best;
    if (!best || sample.host_after - sample.host_before < best->host_after - best->host_before) best = sample;
  }
  return best;
}

}  // namespace

void ClockSampler::start(record::Clock& clock, std::vector<Reader> readers) {
  stop();
  clock_ = &clock;
  readers_ = std::move(readers);
  samples_.assign(readers_.size(), {});
  stopping_ = false;
  sample_now();
  try {
    thread_ = std::thread([this] { sample_periodically(); });
  } catch (const std::system_error&) {
    // Without a thread there are samples of both ends, and those that are asked for.
  }
}

void ClockSampler::sample_now() {
  std::lock_guard lock(mutex_);
  sample_locked();
}

std::vector<ClockSampler::Samples> ClockSampler::so_far() {
  std::lock_guard lock(mutex_);
  return samples_;
}

void ClockSampler::thin(std::size_t most) {
  std::lock_guard lock(mutex_);
  for (Samples& samples : samples_) {
    if (samples.size() <= most) continue;
    Samples kept;
    for (std::size_t i = 0; i < samples.size(); ++i)
      if (i % 2 == 0 || 2 * i >= samples.size()) kept.push_back(samples[i]);
    samples = std::move(kept);
  }
}

std::vector<ClockSampler::Samples> ClockSampler::stop() {
  if (clock_ == nullptr) return {};
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    sample_locked();
  }
  stopped_.notify_one();
  if (thread_.joinable()) thread_.join();
  clock_ = nullptr;
  return std::exchange(samples_, {});
}

void ClockSampler::sample_periodically() {
  std::unique_lock lock(mutex_);
  while (!stopped_.wait_for(lock, period_, [this] { return stopping_; })) {
    try {
      sample_locked();
    } catch (const std::bad_alloc&) {
      // An exception would end the program; a sample may be missing.
    }
  }
}

void ClockSampler::sample_locked() {
  for (std::size_t i = 0; i < readers_.size(); ++i) {
    if (const auto sample = take_sample(*clock_, readers_[i])) samples_[i].push_back(*sample);
  }
}

}  // namespace mindtorch::sources
