// One sorted curve a device.
#include "mindtorch/export/device_memory.h"

#include <algorithm>

namespace mindtorch::exporter {

DeviceMemory::DeviceMemory(const trace::Recording& recording) {
  for (const trace::MemoryBaseline& baseline : recording.memory_baselines) curves_[baseline.device].baseline = baseline.allocated;
  const trace::MemoryColumns& memory = recording.memory;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    auto [at, is_new] = curves_.try_emplace(memory.device[i]);
    Curve& curve = at->second;
    // No baseline: what was there before the first event.
    if (is_new) curve.baseline = memory.total_allocated[i] - memory.bytes[i];
    curve.times.push_back(memory.time_ns[i]);
    curve.totals.push_back(memory.total_allocated[i]);
  }
}

std::int64_t DeviceMemory::allocated_after(trace::Device device, std::int64_t time_ns) const {
  const auto at = curves_.find(device);
  if (at == curves_.end()) return 0;
  const Curve& curve = at->second;
  const auto after = std::upper_bound(curve.times.begin(), curve.times.end(), time_ns);
  return after == curve.times.begin() ? curve.baseline : curve.totals[static_cast<std::size_t>(after - curve.times.begin()) - 1];
}

}  // namespace mindtorch::exporter
