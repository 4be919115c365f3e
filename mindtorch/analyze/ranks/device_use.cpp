// Unions of the times of a device's kernels, collectives and copies.
#include "mindtorch/analyze/ranks/device_use.h"

#include <algorithm>
#include <map>

#include "mindtorch/analyze/intervals.h"

namespace mindtorch::analyze {
namespace {

struct DeviceWork {
  Intervals all, compute, communication;
};

std::int64_t covered(const Intervals& united) {
  return united.empty() ? 0 : united.covered_ns(united.all().front().start, united.all().back().end);
}

RankDevice use_of(trace::Device device, const DeviceWork& work) {
  const Intervals all = work.all.united(), compute = work.compute.united(), communication = work.communication.united();
  RankDevice use{.device = device, .compute_ns = covered(compute), .communication_ns = covered(communication)};
  if (all.empty()) return use;
  use.span_ns = all.all().back().end - all.all().front().start;
  use.overlap_ns = use.communication_ns - covered(communication.without(compute));
  use.idle_ns = use.span_ns - covered(all);
  return use;
}

}  // namespace

std::vector<RankDevice> device_use(const trace::Recording& recording, std::span<const FoundCollective> collectives) {
  std::vector<bool> is_collective(recording.events.size());
  for (const FoundCollective& collective : collectives) is_collective[collective.event] = true;
  std::map<trace::Device, DeviceWork> work;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    const trace::EventKind kind = recording.events.kind[i];
    if (!is_device_work(kind)) continue;
    DeviceWork& of_device = work[recording.events.device[i]];
    const std::int64_t start = recording.events.start_ns[i], end = recording.events.end_ns(i);
    of_device.all.add(start, end);
    if (is_collective[i]) of_device.communication.add(start, end);
    if (!is_collective[i] && kind == trace::EventKind::kKernel) of_device.compute.add(start, end);
  }
  std::vector<RankDevice> uses;
  for (const auto& [device, of_device] : work) uses.push_back(use_of(device, of_device));
  return uses;
}

}  // namespace mindtorch::analyze
