// Time while recording: ticks of the cheapest monotonic counter, mapped to nanoseconds when the session stops.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "mindtorch/base/export.h"

namespace mindtorch::record {

// The hardware counter: TSC on x86-64, the virtual counter on AArch64. The read does not serialise and takes about 20 cycles.
inline std::uint64_t hardware_ticks() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();  // <x86intrin.h> would add half a second to the compilation of every file
#elif defined(__aarch64__)
  std::uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return 0;
#endif
}

// The same moment on three clocks.
struct ClockSample {
  std::uint64_t ticks = 0;
  std::int64_t monotonic_ns = 0;
  std::int64_t unix_ns = 0;
  std::uint64_t width_ticks = 0;  // the three were read within this many ticks: the sample's uncertainty
};

class MINDTORCH_EXPORT Clock {
 public:
  virtual ~Clock() = default;
  virtual std::string_view name() const = 0;
  // True if ticks() is hardware_ticks(), so that hooks may read the counter inline.
  virtual bool is_hardware() const { return false; }
  virtual std::uint64_t ticks() noexcept = 0;  // any thread; never 0
  virtual ClockSample sample() = 0;            // any thread
  virtual double ns_per_tick() = 0;            // best estimate so far; any thread
};

// Returns the hardware counter if it is invariant and the kernel uses it too, and CLOCK_MONOTONIC otherwise. The clock is never destroyed.
MINDTORCH_EXPORT Clock& system_clock();
// Returns CLOCK_MONOTONIC on any hardware. It is never destroyed.
MINDTORCH_EXPORT Clock& monotonic_clock();

// A clock that tests advance by hand. One tick is one nanosecond.
class MINDTORCH_EXPORT FakeClock : public Clock {
 public:
  std::string_view name() const override { return "fake"; }
  std::uint64_t ticks() noexcept override { return now_.fetch_add(step_, std::memory_order_relaxed) + step_; }
  ClockSample sample() override {
    const auto ns = static_cast<std::int64_t>(now());
    return {now(), ns, unix_offset_ns_ + ns, 0};
  }
  double ns_per_tick() override { return 1.0; }

  std::uint64_t now() const { return now_.load(std::memory_order_relaxed); }
  void advance(std::uint64_t ns) { now_.fetch_add(ns, std::memory_order_relaxed); }
  void tick_by(std::uint64_t ns) { step_ = ns; }  // each reading advances the clock by this
  void step_wall_clock(std::int64_t ns) { unix_offset_ns_ += ns; }

 private:
  std::atomic<std::uint64_t> now_{1};
  std::uint64_t step_ = 0;
  std::int64_t unix_offset_ns_ = 1'700'000'000'000'000'000;
};

}  // namespace mindtorch::record
