// The arrows of a trace as properties of its events (torch: flow_id, flow_type, flow_start).
#pragma once

#include <cstdint>

#include "python/src/profiler/event_handle.h"

namespace mindtorch::python {

// One end of an arrow. All zero: the event has no arrow.
struct FlowEnd {
  std::uint64_t id = 0;  // as in the trace
  int type = 0;          // torch's number: 1 from a forward op to its backward node, 2 from a launch to what it started
  bool starts = false;
};

// Needs the GIL. The first question about a recording is O(events); the answers for the last recording asked about are kept.
FlowEnd flow_of(const EventHandle& handle);

}  // namespace mindtorch::python
