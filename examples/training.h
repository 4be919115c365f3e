// The common part of the training examples: their arguments, the loop over steps, and the profiler around it.
#pragma once

#include <fmt/core.h>

#include <charconv>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>

#include "examples/models.h"
#include "mindtorch/profiler/profiler.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/optim/optim.h"

namespace examples {

struct Arguments {
  int steps;
  mindtorch::Device device = "cpu";
  bool profile = false;
  std::string trace;
};

// Parses --steps N, --device cpu|npu, --profile, --trace FILE. Prints the usage and returns nothing for other arguments.
inline std::optional<Arguments> parse(int argc, char** argv, const std::string& program, int steps) {
  Arguments arguments{.steps = steps, .trace = program + ".json.gz"};
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (flag == "--profile") {
      arguments.profile = true;
    } else if (flag == "--device" && value != nullptr) {
      arguments.device = mindtorch::Device(argv[++i]);
    } else if (flag == "--trace" && value != nullptr) {
      arguments.trace = argv[++i];
    } else if (flag == "--steps" && value != nullptr &&
               std::from_chars(value, value + std::strlen(value), arguments.steps).ptr == value + std::strlen(value) &&
               arguments.steps > 0) {
      ++i;
    } else {
      fmt::print(stderr, "usage: {} [--steps N] [--device cpu|npu] [--profile] [--trace FILE]\n", program);
      return std::nullopt;
    }
  }
  return arguments;
}

// Calls `step` with 0, 1, ...; it trains once and returns the loss. Prints the loss and, with --profile, the profile of a few steps.
// Returns the exit status of main(): 0 if the loss fell.
inline int train(const Arguments& arguments, const std::function<mindtorch::Tensor(int)>& step) {
  namespace prof = mindtorch::profiler;
  std::optional<prof::Profile> profile;
  if (arguments.profile) {
    prof::ProfileOptions options{
        .schedule = prof::schedule({.wait = 1, .warmup = 1, .active = 3, .repeat = 1}), .record_shapes = true, .profile_memory = true};
    profile.emplace(std::move(options));
    profile->start();
  }
  double first = 0, last = 0;
  for (int i = 0; i < arguments.steps; ++i) {
    last = step(i).item<double>();
    if (i == 0) first = last;
    if (i % std::max(1, arguments.steps / 10) == 0) fmt::print("step {:4}  loss {:.4f}\n", i, last);
    if (profile) profile->step();
  }
  fmt::print("loss {:.4f} -> {:.9f} in {} steps on {}\n", first, last, arguments.steps, arguments.device.str());
  if (profile) {
    profile->stop();
    fmt::print("{}", profile->key_averages().table({.sort_by = "self_cpu_time_total", .row_limit = 15}));
    profile->export_chrome_trace(arguments.trace);
    fmt::print("trace written to {}\n", arguments.trace);
    const std::string report = arguments.trace.substr(0, arguments.trace.find(".json")) + ".report.html";
    profile->export_trace(report);
    fmt::print("report written to {}: open it in a browser\n", report);
  }
  return last < first ? 0 : 1;
}

// A fixed sequence of numbers, the same on every machine, so that the data needs no download.
class Sequence {
 public:
  explicit Sequence(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
  // 0 ... count - 1
  std::int64_t below(std::int64_t count) { return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(count)); }
  // -1 ... 1
  float symmetric() { return static_cast<float>(static_cast<double>(next() >> 11) / 4503599627370496.0 - 1); }

 private:
  std::uint64_t next() {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return state_ * 0x2545F4914F6CDD1Dull;
  }
  std::uint64_t state_;
};

}  // namespace examples
