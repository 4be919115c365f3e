// Assigns processes, rows and overlap lanes.
#include "mindtorch/export/layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace mindtorch::exporter {
namespace {

using trace::EventIndex;
using trace::EventKind;
using trace::Recording;
using trace::Track;
using trace::TrackId;

constexpr std::int64_t kDeviceSortIndex = 5000000;  // what viewers of torch traces expect: devices after hosts
constexpr std::int64_t kMaxId = 0xFFFFFFFF;         // viewers keep ids in 32 bits

// Ids in use; gives the wanted one if it is free and can be shown, else the next above all others.
class Ids {
 public:
  std::int64_t claim(std::int64_t wanted, std::int64_t least) {
    if (wanted < least || wanted > kMaxId || used_.contains(wanted)) wanted = used_.empty() ? least : *used_.rbegin() + 1;
    used_.insert(wanted);
    return wanted;
  }

 private:
  std::set<std::int64_t> used_;
};

std::string device_label(trace::Device device) {
  return fmt::format("{} {}", device.type == trace::DeviceType::kCuda ? "GPU" : trace::device_type_name(device.type), device.index);
}

std::string row_name(const Track& track) {
  const bool is_thread = track.kind == Track::Kind::kThread;
  const std::string base = fmt::format("{} {}", is_thread ? "thread" : "stream", track.id);
  return track.name.empty() ? base : fmt::format("{} ({})", base, track.name);
}

// The system knows a process by the name of its first thread, which has the number of the process.
std::string process_name(const Recording& recording, std::int64_t pid) {
  const auto first = std::ranges::find_if(recording.tracks, [&](const Track& track) {
    return track.kind == Track::Kind::kThread && track.pid == pid && track.id == pid && !track.name.empty();
  });
  return first == recording.tracks.end() ? fmt::format("process {}", pid) : first->name;
}

class LayoutMaker {
 public:
  explicit LayoutMaker(const Recording& recording) : recording_(recording) {}

  Layout make() {
    add_hosts();
    add_devices();
    add_rows();
    add_lanes();
    return std::move(layout_);
  }

 private:
  void add_hosts() {
    for (const Track& track : recording_.tracks) {
      if (track.kind != Track::Kind::kThread || host_of_pid_.contains(track.pid)) continue;
      const std::int64_t pid = pids_.claim(track.pid, 1);
      host_of_pid_[track.pid] = static_cast<std::uint32_t>(layout_.processes.size());
      layout_.processes.push_back({pid, process_name(recording_, track.pid), "CPU", pid, false, {}});
    }
  }

  void add_devices() {
    for (const Track& track : recording_.tracks) {
      const auto key = std::pair(track.pid, track.device);
      if (track.kind != Track::Kind::kStream || process_of_device_.contains(key)) continue;
      process_of_device_[key] = static_cast<std::uint32_t>(layout_.processes.size());
      add_device(track.device);
    }
    // A device may have been measured while it did nothing.
    for (const trace::CounterTrack& counter : recording_.counters)
      if (std::ranges::none_of(layout_.processes, [&](const Process& process) { return process.device == counter.device; }))
        add_device(counter.device);
  }

  void add_device(trace::Device device) {
    const std::int64_t pid = pids_.claim(device.index, 0);
    const std::string label = device_label(device);
    layout_.processes.push_back({pid, label, label, kDeviceSortIndex + device.index, true, device});
  }

  std::uint32_t process_of(const Track& track) const {
    return track.kind == Track::Kind::kThread ? host_of_pid_.at(track.pid) : process_of_device_.at({track.pid, track.device});
  }

  void add_rows() {
    tids_.resize(layout_.processes.size());
    for (TrackId t = 0; t < recording_.tracks.size(); ++t) {
      const Track& track = recording_.tracks[t];
      const std::uint32_t process = process_of(track);
      layout_.rows.push_back({t, process, tids_[process].claim(track.id, 1), 0, row_name(track)});
    }
  }

  void add_lanes() {
    for (TrackId t = 0; t < recording_.tracks.size(); ++t) {
      const std::size_t first_lane = layout_.rows.size();
      for (const LaneOf& overlap : find_overlaps(recording_, recording_.tracks[t])) {
        while (layout_.rows.size() < first_lane + overlap.lane)
          add_lane(t, static_cast<std::uint32_t>(layout_.rows.size() - first_lane + 1));
        layout_.lane_events.push_back({overlap.event, static_cast<std::uint32_t>(first_lane + overlap.lane - 1)});
      }
    }
  }

  void add_lane(TrackId t, std::uint32_t lane) {
    const Row& main = layout_.rows[t];
    std::string name = lane == 1 ? fmt::format("{} (overlap)", main.name) : fmt::format("{} (overlap {})", main.name, lane);
    layout_.rows.push_back({t, main.process, tids_[main.process].claim(0, 1), lane, std::move(name)});
  }

  const Recording& recording_;
  Layout layout_;
  Ids pids_;
  std::vector<Ids> tids_;  // of each process
  std::map<std::int64_t, std::uint32_t> host_of_pid_;
  std::map<std::pair<std::int64_t, trace::Device>, std::uint32_t> process_of_device_;
};

// The ends of the events that are open in one lane, outermost first.
class OpenEnds {
 public:
  // Opens [start, end) if it nests.
  bool fits(std::int64_t start, std::int64_t end) {
    while (!ends_.empty() && ends_.back() <= start) ends_.pop_back();
    if (!ends_.empty() && ends_.back() < end) return false;
    ends_.push_back(end);
    return true;
  }

 private:
  std::vector<std::int64_t> ends_;
};

}  // namespace

const Process& Layout::process_of(trace::Device device) const { return *std::ranges::find(processes, device, &Process::device); }

Layout make_layout(const Recording& recording) { return LayoutMaker(recording).make(); }

std::vector<LaneOf> find_overlaps(const Recording& recording, const Track& track) {
  std::vector<LaneOf> overlaps;
  std::vector<OpenEnds> lanes(1);
  const trace::EventColumns& events = recording.events;
  for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
    if (events.kind[i] == EventKind::kInstant) continue;
    const std::int64_t start = events.start_ns[i];
    const std::int64_t end = events.end_ns(i);
    std::uint32_t lane = 0;
    while (!lanes[lane].fits(start, end)) {
      if (++lane == lanes.size()) lanes.emplace_back();
    }
    if (lane > 0) overlaps.push_back({i, lane});
  }
  return overlaps;
}

}  // namespace mindtorch::exporter
