// Temporal breakdown: unions of intervals.
#include "mindtorch/analyze/temporal_breakdown.h"

#include <algorithm>
#include <map>

#include "mindtorch/analyze/launch_links.h"

namespace mindtorch::analyze {
namespace {

struct Interval {
  std::int64_t start_ns;
  std::int64_t end_ns;
};

// How much of the time line the intervals cover together.
std::int64_t covered_ns(std::vector<Interval>& intervals) {
  std::ranges::sort(intervals, {}, &Interval::start_ns);
  std::int64_t covered = 0;
  std::int64_t until = intervals.empty() ? 0 : intervals.front().start_ns;
  for (const auto& [start, end] : intervals) {
    covered += std::max<std::int64_t>(0, end - std::max(start, until));
    until = std::max(until, end);
  }
  return covered;
}

struct Work {
  std::vector<Interval> all, kernels;
};

}  // namespace

std::vector<TemporalBreakdown> temporal_breakdown(const trace::Recording& recording) {
  std::map<trace::Device, Work> work;
  const trace::EventColumns& events = recording.events;
  for (trace::EventIndex i = 0; i < events.size(); ++i) {
    if (!is_device_work(events.kind[i])) continue;
    Work& of_device = work[events.device[i]];
    of_device.all.push_back({events.start_ns[i], events.end_ns(i)});
    if (events.kind[i] == trace::EventKind::kKernel) of_device.kernels.push_back(of_device.all.back());
  }
  std::vector<TemporalBreakdown> breakdowns;
  for (auto& [device, of_device] : work) {
    const std::int64_t first = std::ranges::min(of_device.all, {}, &Interval::start_ns).start_ns;
    const std::int64_t last = std::ranges::max(of_device.all, {}, &Interval::end_ns).end_ns;
    const std::int64_t busy = covered_ns(of_device.all), compute = covered_ns(of_device.kernels);
    breakdowns.push_back({device, last - first, compute, busy - compute, last - first - busy});
  }
  return breakdowns;
}

}  // namespace mindtorch::analyze
