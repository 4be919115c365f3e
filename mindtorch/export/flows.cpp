// Finds the two ends of each arrow.
#include "mindtorch/export/flows.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "mindtorch/analyze/ranks/merge_ranks.h"

namespace mindtorch::exporter {
namespace {

using trace::EventIndex;
using trace::EventKind;

struct Ends {
  EventIndex forward = analyze::kNoEvent;
  EventIndex backward = analyze::kNoEvent;
};
// By (sequence number, number of the forward thread), packed as an event's link.
using EndsOfLink = std::unordered_map<std::uint64_t, Ends>;

EndsOfLink backward_ends(const trace::Recording& recording) {
  EndsOfLink ends;
  const trace::EventColumns& events = recording.events;
  for (EventIndex i = 0; i < events.size(); ++i) {
    const bool is_evaluation = events.kind[i] == EventKind::kBackward && trace::forward_thread_of(events.link[i]) != 0;
    if (!is_evaluation || trace::sequence_of(events.link[i]) < 0) continue;
    // Of the events of one evaluation, the innermost ends first. A graph that is kept may be evaluated again: the first time counts.
    EventIndex& backward = ends[events.link[i]].backward;
    if (backward == analyze::kNoEvent || events.end_ns(i) <= events.end_ns(backward)) backward = i;
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

// The greatest id of an arrow from a launch to a kernel.
std::uint64_t last_launch_id(const trace::Recording& recording) {
  std::uint64_t last = 0;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    if (trace::is_device_kind(recording.events.kind[i])) last = std::max(last, recording.events.link[i]);
  }
  return last;
}

}  // namespace

std::vector<Flow> forward_backward_flows(const trace::Recording& recording) {
  EndsOfLink ends = backward_ends(recording);
  if (ends.empty()) return {};
  find_forward_ends(recording, ends);
  std::vector<Flow> flows;
  for (const auto& [link, pair] : ends) {
    if (pair.forward != analyze::kNoEvent) flows.push_back({0, pair.forward, pair.backward});
  }
  std::ranges::sort(flows, {}, [&](const Flow& flow) { return std::pair(recording.events.start_ns[flow.to], flow.to); });
  const std::uint64_t last_id = last_launch_id(recording);
  for (std::size_t i = 0; i < flows.size(); ++i) flows[i].id = last_id + i + 1;
  return flows;
}

std::vector<Flow> launch_flows(const analyze::Analysis& analysis) {
  std::vector<Flow> flows;
  const trace::Recording& recording = analysis.recording();
  for (const trace::Track& track : recording.tracks) {
    if (track.kind != trace::Track::Kind::kStream) continue;
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      const EventIndex launch = analysis.launches().launch_of(i);
      if (launch != analyze::kNoEvent && recording.events.kind[i] != trace::EventKind::kDeviceScope)
        flows.push_back({recording.events.link[i], launch, i});
    }
  }
  return flows;
}

std::vector<Flow> collective_flows(const trace::Recording& recording) {
  const auto key = std::ranges::find(recording.names, analyze::kCollectiveFlowKey);
  if (key == recording.names.end()) return {};
  const auto id = static_cast<trace::NameId>(key - recording.names.begin());
  std::map<std::int64_t, std::vector<EventIndex>> parts;
  for (const EventIndex event : recording.attributes.events) {
    for (const trace::Attribute& attribute : recording.attributes.find(event)) {
      if (attribute.key == id && attribute.type == trace::Attribute::Type::kInt) parts[attribute.bits].push_back(event);
    }
  }
  std::vector<Flow> flows;
  for (auto& [number, events] : parts) {
    std::ranges::stable_sort(events, {}, [&](EventIndex event) { return recording.events.start_ns[event]; });
    for (std::size_t k = 1; k < events.size(); ++k) flows.push_back({flows.size() + 1, events.front(), events[k]});
  }
  return flows;
}

bool has_device_timeline(const trace::Recording& recording) {
  return std::ranges::any_of(recording.tracks, [](const trace::Track& track) { return track.kind == trace::Track::Kind::kStream; });
}

}  // namespace mindtorch::exporter
