// MemoryUse and MemoryTotals: reports are merged with the events of their thread in one pass of time.
#include "mindtorch/analyze/memory_use.h"

#include <algorithm>

namespace mindtorch::analyze {
namespace {

// The reports of each track, in order of time.
std::vector<std::vector<std::uint32_t>> reports_by_track(const trace::Recording& recording) {
  std::vector<std::vector<std::uint32_t>> by_track(recording.tracks.size());
  for (std::uint32_t r = 0; r < recording.memory.size(); ++r) by_track[recording.memory.track[r]].push_back(r);
  return by_track;
}

}  // namespace

MemoryDelta delta_of(const trace::MemoryColumns& memory, std::size_t report) {
  return memory.device[report].type == trace::DeviceType::kCpu ? MemoryDelta{memory.bytes[report], 0}
                                                               : MemoryDelta{0, memory.bytes[report]};
}

std::vector<std::int64_t> allocated_by_event(const trace::Recording& recording, const MemoryUse& use) {
  const trace::MemoryColumns& memory = recording.memory;
  std::vector<std::int64_t> bytes(memory.size() == 0 ? 0 : recording.events.size());
  for (std::size_t report = 0; report < memory.size(); ++report) {
    const EventIndex node = use.node_of(report);
    if (node != kNoEvent && memory.bytes[report] > 0) bytes[node] += memory.bytes[report];
  }
  return bytes;
}

MemoryUse::MemoryUse(const trace::Recording& recording, const EventTree& tree) {
  if (recording.memory.size() == 0) return;
  self_.assign(recording.events.size(), MemoryDelta{});
  node_of_report_.assign(recording.memory.size(), kNoEvent);
  attribute(recording, tree);
  total_ = self_;
  for (EventIndex i = static_cast<EventIndex>(total_.size()); i-- > 0;) {
    if (tree.is_node(i) && tree.parent(i) != kNoEvent) total_[tree.parent(i)] += total_[i];
  }
  for (std::uint32_t r = 0; r < recording.memory.size(); ++r) {
    // Reports at the start or before it describe memory that existed before the recording.
    if (node_of_report_[r] == kNoEvent && recording.memory.time_ns[r] > recording.clock.start_ns) outside_.push_back(r);
  }
}

void MemoryUse::attribute(const trace::Recording& recording, const EventTree& tree) {
  const auto by_track = reports_by_track(recording);
  for (std::size_t t = 0; t < by_track.size(); ++t) {
    const trace::Track& track = recording.tracks[t];
    EventIndex next = track.first_event;
    EventIndex open = kNoEvent;  // the last node that started; those around it are its parents
    for (const std::uint32_t report : by_track[t]) {
      const std::int64_t time = recording.memory.time_ns[report];
      for (; next < track.first_event + track.event_count && recording.events.start_ns[next] <= time; ++next) {
        if (tree.is_node(next)) open = next;
      }
      while (open != kNoEvent && recording.events.end_ns(open) < time) open = tree.parent(open);
      node_of_report_[report] = open;
      if (open != kNoEvent) self_[open] += delta_of(recording.memory, report);
    }
  }
}

MemoryTotals::MemoryTotals(const trace::Recording& recording) : recording_(&recording) {
  for (std::uint32_t r = 0; r < recording.memory.size(); ++r) {
    const trace::Device device = recording.memory.device[r];
    auto found = std::ranges::find(devices_, device, &PerDevice::device);
    if (found == devices_.end()) {
      devices_.push_back({device, recording.memory.total_allocated[r] - recording.memory.bytes[r], {}});
      found = devices_.end() - 1;
    }
    found->reports.push_back(r);
  }
  for (const trace::MemoryBaseline& baseline : recording.memory_baselines) {
    if (std::ranges::find(devices_, baseline.device, &PerDevice::device) == devices_.end())
      devices_.push_back({baseline.device, baseline.allocated, {}});
  }
}

std::int64_t MemoryTotals::at(trace::Device device, std::int64_t time_ns, bool not_later) const {
  const auto found = std::ranges::find(devices_, device, &PerDevice::device);
  if (found == devices_.end()) return 0;
  const auto end = std::ranges::partition_point(found->reports, [&](std::uint32_t r) {
    return recording_->memory.time_ns[r] < time_ns || (not_later && recording_->memory.time_ns[r] == time_ns);
  });
  return end == found->reports.begin() ? found->baseline : recording_->memory.total_allocated[*(end - 1)];
}

std::int64_t MemoryTotals::before(trace::Device device, std::int64_t time_ns) const { return at(device, time_ns, false); }
std::int64_t MemoryTotals::after(trace::Device device, std::int64_t time_ns) const { return at(device, time_ns, true); }

}  // namespace mindtorch::analyze
