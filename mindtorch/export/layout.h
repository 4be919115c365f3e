// Where each event is drawn: one process for the host and one for each device, one row for each track, and extra rows ("lanes") for events
// that overlap others of their track without nesting in them, which no viewer can draw in one row.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter {

struct Process {
  std::int64_t pid = 0;  // unique, not negative
  std::string name;
  std::string label;  // "CPU", "GPU 0", "NPU 0"
  std::int64_t sort_index = 0;
  bool is_device = false;
  trace::Device device;  // the CPU: a host
};

struct Row {
  trace::TrackId track = 0;
  std::uint32_t process = 0;  // index into Layout::processes
  std::int64_t tid = 0;       // positive, below 2^32, unique in its process
  std::uint32_t lane = 0;     // 0: the track itself
  std::string name;
};

// An event that lies in an extra lane.
struct LaneEvent {
  trace::EventIndex event = 0;
  std::uint32_t row = 0;
};

struct Layout {
  std::vector<Process> processes;
  std::vector<Row> rows;               // rows[t] is track t; the lanes follow
  std::vector<LaneEvent> lane_events;  // by event

  // The process that shows a device, or the first host for the CPU. Every device with streams or counters has one.
  const Process& process_of(trace::Device device) const;
};

MINDTORCH_EXPORT Layout make_layout(const trace::Recording& recording);

// The lane of each event of a track, for events in start order, longer first: lane 0 unless it partly overlaps an event there. Only events
// outside lane 0 are listed. O(events + listed events x lanes).
struct LaneOf {
  trace::EventIndex event;
  std::uint32_t lane;
};
MINDTORCH_EXPORT std::vector<LaneOf> find_overlaps(const trace::Recording& recording, const trace::Track& track);

// Finds the row of events asked for in increasing order, in constant time.
class RowOfEvent {
 public:
  explicit RowOfEvent(const Layout& layout) : layout_(layout) {}
  std::uint32_t operator()(trace::TrackId track, trace::EventIndex event) {
    while (next_ < layout_.lane_events.size() && layout_.lane_events[next_].event < event) ++next_;
    return next_ < layout_.lane_events.size() && layout_.lane_events[next_].event == event ? layout_.lane_events[next_].row : track;
  }

 private:
  const Layout& layout_;
  std::size_t next_ = 0;
};

}  // namespace mindtorch::exporter
