// What really happened, for tests that check a profiler. A vendor's library has nothing like it. It needs Config::keep_truth.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mindtorch/reference_device/activity.h"

namespace mindtorch::reference_device {

// One piece of work that ran, in the nanoseconds of Config::host_now.
struct Truth {
  ActivityKind kind;
  int device = 0;
  int stream = 0;
  std::uint64_t correlation = 0;
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t launched_by = 0;  // OS thread id
  std::string name;
};

// All work that has run since the last call, in the order in which it ended, whether the collector recorded it or not.
std::vector<Truth> take_truth();

}  // namespace mindtorch::reference_device
