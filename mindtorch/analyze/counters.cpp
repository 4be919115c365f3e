// Counters: read from the memory reports, and counted from launches.
#include "mindtorch/analyze/counters.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "mindtorch/analyze/memory_timeline.h"

namespace mindtorch::analyze {
namespace {

// Values at the same time: the last one counts.
void append(Counter& counter, std::int64_t time_ns, double value) {
  if (!counter.times_ns.empty() && counter.times_ns.back() == time_ns) {
    counter.values.back() = value;
  } else {
    counter.times_ns.push_back(time_ns);
    counter.values.push_back(value);
  }
}

void add_memory(const trace::Recording& recording, trace::Device device, std::vector<Counter>& out) {
  Counter allocated{.name = "allocated", .unit = "bytes", .device = device},
      reserved{.name = "reserved", .unit = "bytes", .device = device};
  for (std::size_t report = 0; report < recording.memory.size(); ++report) {
    if (recording.memory.device[report] != device) continue;
    append(allocated, recording.memory.time_ns[report], static_cast<double>(recording.memory.total_allocated[report]));
    append(reserved, recording.memory.time_ns[report], static_cast<double>(recording.memory.total_reserved[report]));
  }
  const bool has_reserved = std::ranges::any_of(reserved.values, [](double value) { return value != 0; });
  if (!allocated.values.empty()) out.push_back(std::move(allocated));
  if (has_reserved) out.push_back(std::move(reserved));
}

void add_queues(const Analysis& analysis, std::vector<Counter>& out) {
  const trace::EventColumns& events = analysis.recording().events;
  using Change = std::pair<std::int64_t, int>;  // time, and by how much the queue grows
  std::map<trace::Device, std::vector<Change>> changes;
  for (EventIndex i = 0; i < events.size(); ++i) {
    if (!is_device_work(events.kind[i])) continue;
    const EventIndex launch = analysis.launches().launch_of(i);
    if (launch == kNoEvent || events.start_ns[launch] > events.start_ns[i]) continue;
    std::vector<Change>& of_device = changes[events.device[i]];
    of_device.emplace_back(events.start_ns[launch], 1);
    of_device.emplace_back(events.start_ns[i], -1);
  }
  for (auto& [device, of_device] : changes) {
    std::ranges::sort(of_device);
    Counter queued{.name = "queued", .unit = "count", .device = device};
    double value = 0;
    for (const auto& [time_ns, change] : of_device) append(queued, time_ns, value += change);
    out.push_back(std::move(queued));
  }
}

}  // namespace

std::vector<Counter> counters(const Analysis& analysis) {
  std::vector<Counter> all;
  for (const trace::Device device : memory_devices(analysis.recording())) add_memory(analysis.recording(), device, all);
  add_queues(analysis, all);
  for (const trace::CounterTrack& track : analysis.recording().counters) {
    Counter measured{.name = track.name, .unit = track.unit, .device = track.device};
    for (std::size_t i = 0; i < track.size(); ++i) append(measured, track.times_ns[i], track.values[i]);
    if (!measured.values.empty()) all.push_back(std::move(measured));
  }
  return all;
}

}  // namespace mindtorch::analyze
