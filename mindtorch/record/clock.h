// Time while recording: ticks of the cheapest monotonic counter, mapped to nanoseconds when the session stops.
#pragma once

#include <cstdint>
#include <string_view>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace mindtorch::record {

// The hardware counter: TSC on x86-64, the virtual counter on AArch64. Not serialising: ~20 cycles.
inline std::uint64_t hardware_ticks() noexcept {
#if defined(__x86_64__)
  return __rdtsc();
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
  std::uint64_t width_ticks = 0;  // the sample was taken within this many ticks: its uncertainty
};

class Clock {
 public:
  virtual ~Clock() = default;
  virtual std::string_view name() const = 0;
  // True if ticks() is hardware_ticks(), so that hooks may read the counter inline.
  virtual bool is_hardware() const { return false; }
  virtual std::uint64_t ticks() noexcept = 0;  // any thread; never 0
  virtual ClockSample sample() = 0;            // any thread
  virtual double ticks_per_ns() = 0;           // best estimate so far
};

// The hardware counter where it is invariant and synchronised between cores, else CLOCK_MONOTONIC. Lives for ever.
Clock& system_clock();
// CLOCK_MONOTONIC, whatever the hardware offers.
Clock& monotonic_clock();

// A clock that tests turn by hand; 1 tick = 1 ns.
class FakeClock : public Clock {
 public:
  std::string_view name() const override { return "fake"; }
  std::uint64_t ticks() noexcept override { return __atomic_add_fetch(&now_, step_, __ATOMIC_RELAXED); }
  ClockSample sample() override { return {now(), static_cast<std::int64_t>(now()), unix_offset_ns_ + static_cast<std::int64_t>(now()), 0}; }
  double ticks_per_ns() override { return 1.0; }

  std::uint64_t now() const { return __atomic_load_n(&now_, __ATOMIC_RELAXED); }
  void advance(std::uint64_t ns) { __atomic_add_fetch(&now_, ns, __ATOMIC_RELAXED); }
  void tick_by(std::uint64_t ns) { step_ = ns; }  // each reading advances the clock by this
  void step_wall_clock(std::int64_t ns) { unix_offset_ns_ += ns; }

 private:
  std::uint64_t now_ = 1;
  std::uint64_t step_ = 0;
  std::int64_t unix_offset_ns_ = 1'700'000'000'000'000'000;
};

// Maps ticks of one clock to nanoseconds of the timeline by a straight line through two samples, exact over days.
class TickMapping {
 public:
  TickMapping() = default;
  // Timeline zero is `first`; `last` fixes the rate if it is at least a millisecond later, else `fallback_ticks_per_ns` does.
  TickMapping(const ClockSample& first, const ClockSample& last, double fallback_ticks_per_ns);

  std::int64_t to_ns(std::uint64_t ticks) const noexcept {
    // Fixed point: 64.64 product, so that a week of ticks keeps its nanoseconds.
    const bool before = ticks < zero_;
    const unsigned __int128 product = static_cast<unsigned __int128>(before ? zero_ - ticks : ticks - zero_) * ns_per_tick_q32_;
    const std::int64_t ns = static_cast<std::int64_t>(product >> 32);
    return before ? -ns : ns;
  }
  double ns_per_tick() const { return static_cast<double>(ns_per_tick_q32_) / 4294967296.0; }
  std::uint64_t zero_ticks() const { return zero_; }

 private:
  std::uint64_t zero_ = 0;
  std::uint64_t ns_per_tick_q32_ = std::uint64_t{1} << 32;
};

}  // namespace mindtorch::record
