// What really happened, for tests that judge what a profiler says happened. No vendor has this; needs Config::keep_truth.
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

// Everything that has run since the last call, in the order in which it ended. Recorded or not: the collector has no part in it.
std::vector<Truth> take_truth();

}  // namespace mindtorch::reference_device
