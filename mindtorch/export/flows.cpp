// Finds the two ends of each arrow.
#include "mindtorch/export/flows.h"

#include <algorithm>
#include <unordered_map>

namespace mindtorch::exporter {
namespace {

using trace::EventIndex;
using trace::EventKind;

constexpr EventIndex kNone = 0xFFFFFFFF;

struct Ends {
  EventIndex forward = kNone;
  EventIndex backward = kNone;
};
// By (sequence number, number of the forward thread), packed as an event's link.
using EndsOfLink = std::unordered_map<std::uint64_t, Ends>;

EndsOfLink backward_ends(const trace::Recording& recording) {
  EndsOfLink ends;
  const trace::EventColumns& events = recording.events;
  for (EventIndex i = 0; i < events.size(); ++i) {
    const bool is_evaluation = events.kind[i] == EventKind::kBackward && trace::forward_thread_of(events.link[i]) != 0;
    // Later starts are further inside.
    if (is_evaluation && trace::sequence_of(events.link[i]) >= 0) ends[events.link[i]].backward = i;
  }
  return ends;
}

void find_forward_ends(const trace::Recording& recording, EndsOfLink& ends) {
  const trace::EventColumns& events = recording.events;
  for (const trace::Track& track : recording.tracks) {
    if (track.kind != trace::Track::Kind::kThread) continue;
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      const std::int64_t sequence = trace::sequence_of(events.link[i]);
      if (events.kind[i] != EventKind::kOp || sequence < 0 || trace::forward_thread_of(events.link[i]) != 0) continue;
      const auto at = ends.find(trace::make_sequence_link(sequence, track.number));
      if (at != ends.end()) at->second.forward = i;
    }
  }
}

}  // namespace

std::vector<Flow> forward_backward_flows(const trace::Recording& recording) {
  EndsOfLink ends = backward_ends(recording);
  if (ends.empty()) return {};
  find_forward_ends(recording, ends);
  std::vector<Flow> flows;
  for (const auto& [link, pair] : ends) {
    if (pair.forward != kNone) flows.push_back({0, pair.forward, pair.backward});
  }
  std::ranges::sort(flows, {}, [&](const Flow& flow) { return std::pair(recording.events.start_ns[flow.to], flow.to); });
  for (std::size_t i = 0; i < flows.size(); ++i) flows[i].id = i + 1;
  return flows;
}

std::vector<Flow> launch_flows(const trace::Recording& recording) {
  const trace::EventColumns& events = recording.events;
  std::unordered_map<std::uint64_t, EventIndex> launches;
  for (EventIndex i = 0; i < events.size(); ++i) {
    if (trace::is_launch_kind(events.kind[i]) && events.link[i] != 0) launches.try_emplace(events.link[i], i);
  }
  std::vector<Flow> flows;
  for (EventIndex i = 0; i < events.size(); ++i) {
    if (!trace::is_device_kind(events.kind[i])) continue;
    const auto launch = launches.find(events.link[i]);
    if (launch != launches.end()) flows.push_back({events.link[i], launch->second, i});
  }
  return flows;
}

}  // namespace mindtorch::exporter
