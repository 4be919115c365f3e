// The clock of the double: times of work are kept on CLOCK_MONOTONIC, where truth is told, and records are written on CUPTI's clock.
#pragma once

#include <time.h>

#include <cstdint>
#include <mutex>

namespace cupti_double {

inline std::int64_t read_clock(clockid_t which) {
  timespec now{};
  clock_gettime(which, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

inline std::int64_t monotonic_now() { return read_clock(CLOCK_MONOTONIC); }

class Clock {
 public:
  Clock() { set(0, 0); }

  // Ahead of CLOCK_REALTIME by `offset_ns` now, and faster by `drift_ppm`.
  void set(std::int64_t offset_ns, double drift_ppm) {
    std::lock_guard lock(mutex_);
    base_ = monotonic_now();
    ahead_ = read_clock(CLOCK_REALTIME) - base_ + offset_ns;
    drift_ = drift_ppm * 1e-6;
  }
  std::uint64_t from_monotonic(std::int64_t ns) const {
    std::lock_guard lock(mutex_);
    return static_cast<std::uint64_t>(ns + ahead_ + static_cast<std::int64_t>(static_cast<double>(ns - base_) * drift_));
  }
  std::int64_t to_monotonic(std::uint64_t cupti_ns) const {
    std::lock_guard lock(mutex_);
    const std::int64_t since_base = static_cast<std::int64_t>(cupti_ns) - ahead_ - base_;
    return base_ + static_cast<std::int64_t>(static_cast<double>(since_base) / (1.0 + drift_));
  }
  std::uint64_t now() const { return pinned_ != 0 ? pinned_ : from_monotonic(monotonic_now()); }
  // What now() tells this thread, while it plays what happened at another time; 0 ends that.
  static void pin(std::uint64_t ns) { pinned_ = ns; }

 private:
  static inline thread_local std::uint64_t pinned_ = 0;
  mutable std::mutex mutex_;
  std::int64_t base_ = 0;
  std::int64_t ahead_ = 0;
  double drift_ = 0;
};

}  // namespace cupti_double
