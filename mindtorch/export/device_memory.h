// How much memory was allocated on a device at a time, from the memory events of a recording.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter {

class DeviceMemory {
 public:
  explicit DeviceMemory(const trace::Recording& recording);

  // Totals without and with what happens at `time_ns` itself. O(log n).
  std::int64_t allocated_before(trace::Device device, std::int64_t time_ns) const { return allocated_after(device, time_ns - 1); }
  std::int64_t allocated_after(trace::Device device, std::int64_t time_ns) const;

 private:
  struct Curve {
    std::int64_t baseline = 0;
    std::vector<std::int64_t> times;
    std::vector<std::int64_t> totals;
  };
  std::map<trace::Device, Curve> curves_;
};

}  // namespace mindtorch::exporter
