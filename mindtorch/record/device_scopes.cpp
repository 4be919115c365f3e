// Computes the spans of the user's scopes on devices.
#include "mindtorch/record/device_scopes.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "mindtorch/trace/launches.h"
#include "mindtorch/trace/open_spans.h"
#include "mindtorch/trace/ordering.h"

namespace mindtorch::record {
namespace {

using trace::EventIndex;
using trace::TrackId;

struct Span {
  std::int64_t start;
  std::int64_t end;
  std::uint64_t correlation;  // of the first piece of work
};

// The innermost scope around each call, by correlation.
std::vector<trace::LaunchIndex::Launch> scopes_of_launches(const trace::Recording& recording) {
  const trace::EventColumns& events = recording.events;
  std::vector<trace::LaunchIndex::Launch> scopes;
  trace::OpenSpans<EventIndex> open;
  for (const trace::Track& track : recording.tracks) {
    if (track.kind != trace::Track::Kind::kThread) continue;
    open.clear();
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      open.close_until(events.start_ns[i]);
      if (trace::is_user_kind(events.kind[i]) && (events.flags[i] & trace::kAsync) == 0)
        open.open(events.end_ns(i), i);
      else if (trace::is_launch_kind(events.kind[i]) && !open.empty() && events.link[i] != 0)
        scopes.push_back({events.link[i], open.innermost()});
    }
  }
  return scopes;
}

std::map<std::pair<EventIndex, TrackId>, Span> find_spans(const trace::Recording& recording, trace::LaunchIndex scopes) {
  const trace::EventColumns& events = recording.events;
  std::map<std::pair<EventIndex, TrackId>, Span> spans;
  for (TrackId id = 0; id < recording.tracks.size(); ++id) {
    const trace::Track& track = recording.tracks[id];
    if (track.kind != trace::Track::Kind::kStream) continue;
    for (EventIndex i = track.first_event; i < track.first_event + track.event_count; ++i) {
      if (!trace::is_device_work(events.kind[i]) || events.link[i] == 0) continue;
      const EventIndex scope = scopes.find(events.link[i]);
      if (scope == trace::LaunchIndex::kNone) continue;
      const auto [at, is_new] = spans.try_emplace({scope, id}, Span{events.start_ns[i], events.end_ns(i), events.link[i]});
      if (is_new) continue;
      at->second.start = std::min(at->second.start, events.start_ns[i]);
      at->second.end = std::max(at->second.end, events.end_ns(i));
    }
  }
  return spans;
}

}  // namespace

void add_device_scopes(trace::Recording& recording) {
  std::vector<trace::LaunchIndex::Launch> scopes = scopes_of_launches(recording);
  if (scopes.empty()) return;
  const auto spans = find_spans(recording, trace::LaunchIndex(std::move(scopes)));
  if (spans.empty()) return;
  trace::EventColumns& events = recording.events;
  std::vector<TrackId> track_of_event = trace::track_column(recording);
  for (const auto& [key, span] : spans) {
    const auto [scope, track] = key;
    events.push_back({.start_ns = span.start,
                      .duration_ns = span.end - span.start,
                      .name = events.name[scope],
                      .link = span.correlation,
                      .device = recording.tracks[track].device,
                      .kind = trace::EventKind::kDeviceScope,
                      .flags = trace::kKnownDevice});
    track_of_event.push_back(track);
  }
  trace::order_events(recording, track_of_event);
}

}  // namespace mindtorch::record
