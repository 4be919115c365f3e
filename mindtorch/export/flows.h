// Arrows between events: from a forward op to the backward node it made, from a launch to what it started on a device, and between the
// parts that ranks have in a collective.
#pragma once

#include <cstdint>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter {

struct Flow {
  std::uint64_t id = 0;  // unique among the arrows of its kind
  trace::EventIndex from = 0;
  trace::EventIndex to = 0;
};

// One arrow for each autograd node that was evaluated and whose forward op was recorded: from the innermost op with its sequence number to
// the innermost event of the node, in its first evaluation if there are several, as torch draws them; numbered in the order of evaluation,
// from 1, or from where the ids of launches end: MindStudio Insight finds arrows by their id alone. O(events).
MINDTORCH_EXPORT std::vector<Flow> forward_backward_flows(const trace::Recording& recording);

// One arrow for each device activity whose launch was recorded, in the order of activities. The id is the correlation.
MINDTORCH_EXPORT std::vector<Flow> launch_flows(const analyze::Analysis& analysis);

// One arrow from the rank that entered a collective first to each other rank, in a recording of several ranks
// (analyze/ranks/merge_ranks.h); numbered from 1. O(events).
MINDTORCH_EXPORT std::vector<Flow> collective_flows(const trace::Recording& recording);

// True if the recording has the timeline of a device; without one, nothing is gained from building the event tree.
MINDTORCH_EXPORT bool has_device_timeline(const trace::Recording& recording);

}  // namespace mindtorch::exporter
