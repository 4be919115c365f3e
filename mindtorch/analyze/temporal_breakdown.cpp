// Temporal breakdown: unions of intervals.
#include "mindtorch/analyze/temporal_breakdown.h"

#include <algorithm>
#include <limits>
#include <map>

#include "mindtorch/analyze/intervals.h"
#include "mindtorch/analyze/launch_links.h"

namespace mindtorch::analyze {
namespace {

struct Work {
  Intervals all, kernels;
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
};

}  // namespace

std::vector<TemporalBreakdown> temporal_breakdown(const trace::Recording& recording) {
  std::map<trace::Device, Work> work;
  const trace::EventColumns& events = recording.events;
  for (trace::EventIndex i = 0; i < events.size(); ++i) {
    if (!is_device_work(events.kind[i])) continue;
    Work& of_device = work[events.device[i]];
    of_device.first_ns = std::min(of_device.first_ns, events.start_ns[i]);
    of_device.last_ns = std::max(of_device.last_ns, events.end_ns(i));
    of_device.all.add(events.start_ns[i], events.end_ns(i));
    if (events.kind[i] == trace::EventKind::kKernel) of_device.kernels.add(events.start_ns[i], events.end_ns(i));
  }
  std::vector<TemporalBreakdown> breakdowns;
  for (const auto& [device, of_device] : work) {
    const std::int64_t span = of_device.last_ns - of_device.first_ns;
    const std::int64_t busy = of_device.all.united().covered_ns(), compute = of_device.kernels.united().covered_ns();
    breakdowns.push_back({device, span, compute, busy - compute, span - busy});
  }
  return breakdowns;
}

}  // namespace mindtorch::analyze
