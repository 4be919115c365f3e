// Counters: quantities over time, such as the bytes that are allocated on a device.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::analyze {

struct Counter {
  // "allocated" and "reserved": bytes of the allocator. "queued": device work that was launched and has not begun.
  std::string_view name;  // or that of a trace::CounterTrack
  std::string_view unit;
  trace::Device device;
  std::vector<std::int64_t> times_ns;  // increasing
  std::vector<double> values;          // from each time on
  friend bool operator==(const Counter&, const Counter&) = default;
};

// Memory of each device with reports, the queue of each device with work, then the counters that were measured; the texts are those of the
// recording. O((reports + device work) * log).
MINDTORCH_EXPORT std::vector<Counter> counters(const Analysis& analysis);

}  // namespace mindtorch::analyze
