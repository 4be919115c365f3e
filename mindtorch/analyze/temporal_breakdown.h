// Temporal breakdown: how much of a device's time was spent on computing, on other work, and idle.
#pragma once

#include <cstdint>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::analyze {

// The terms are those of Holistic Trace Analysis. Work that runs at the same time counts once.
struct TemporalBreakdown {
  trace::Device device;
  std::int64_t span_ns = 0;         // from the start of the first piece of work to the end of the last
  std::int64_t compute_ns = 0;      // a kernel ran
  std::int64_t non_compute_ns = 0;  // no kernel, but a copy, a fill or a collective
  std::int64_t idle_ns = 0;         // neither
  friend bool operator==(const TemporalBreakdown&, const TemporalBreakdown&) = default;
};

// One for each device that worked, in the order of devices. O(device work * log).
MINDTORCH_EXPORT std::vector<TemporalBreakdown> temporal_breakdown(const trace::Recording& recording);

}  // namespace mindtorch::analyze
