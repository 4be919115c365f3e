// The clocks of this machine.
#include "mindtorch/record/clock.h"

#include <time.h>

#include <fstream>
#include <string>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace mindtorch::record {
namespace {

#if defined(__aarch64__)
constexpr std::string_view kCounterName = "cntvct";
#else
constexpr std::string_view kCounterName = "tsc";
#endif

std::int64_t read_ns(clockid_t id) noexcept {
  timespec now;
  ::clock_gettime(id, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// Takes the narrowest of a few readings: an interrupt between two reads widens one of them, but rarely all of them.
template <class Ticks>
ClockSample take_sample(Ticks ticks) {
  ClockSample best;
  best.width_ticks = ~std::uint64_t{0};
  for (int attempt = 0; attempt < 8; ++attempt) {
    ClockSample sample;
    const std::uint64_t before = ticks();
    sample.monotonic_ns = read_ns(CLOCK_MONOTONIC);
    const std::uint64_t after = ticks();
    sample.unix_ns = read_ns(CLOCK_REALTIME);
    sample.ticks = before + (after - before) / 2;
    sample.width_ticks = after - before;
    if (sample.width_ticks < best.width_ticks) best = sample;
  }
  return best;
}

class MonotonicClock : public Clock {
 public:
  std::string_view name() const override { return "monotonic"; }
  std::uint64_t ticks() noexcept override { return static_cast<std::uint64_t>(read_ns(CLOCK_MONOTONIC)); }
  ClockSample sample() override {
    ClockSample sample = take_sample([] { return static_cast<std::uint64_t>(read_ns(CLOCK_MONOTONIC)); });
    sample.ticks = static_cast<std::uint64_t>(sample.monotonic_ns);
    return sample;
  }
  double ns_per_tick() override { return 1.0; }
};

class HardwareClock : public Clock {
 public:
  HardwareClock() : first_(take_sample(hardware_ticks)) {
    // A short session cannot measure the rate itself; a millisecond here can, to about 30 parts in a million, and the estimate gets better
    // with the age of the process.
    while (read_ns(CLOCK_MONOTONIC) - first_.monotonic_ns < 1'000'000) {
    }
  }
  std::string_view name() const override { return kCounterName; }
  bool is_hardware() const override { return true; }
  std::uint64_t ticks() noexcept override { return hardware_ticks(); }
  ClockSample sample() override { return take_sample(hardware_ticks); }
  double ns_per_tick() override {
    const ClockSample now = sample();
    return static_cast<double>(now.monotonic_ns - first_.monotonic_ns) / static_cast<double>(now.ticks - first_.ticks);
  }

 private:
  ClockSample first_;
};

// The counter runs at one rate in every power state, and the kernel found it synchronised between cores.
bool hardware_counter_is_trustworthy() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0x80000007, &a, &b, &c, &d) == 0 || (d & (1u << 8)) == 0) return false;
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  file >> source;
  return source == "tsc" || source == "kvm-clock" || source == "hyperv_clocksource_tsc_page";
#elif defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

}  // namespace

Clock& monotonic_clock() {
  static MonotonicClock clock;
  return clock;
}

Clock& system_clock() {
  static Clock& clock = []() -> Clock& {
    if (!hardware_counter_is_trustworthy()) return monotonic_clock();
    return *new HardwareClock;  // never destroyed: hooks may outlive static destructors
  }();
  return clock;
}

}  // namespace mindtorch::record
