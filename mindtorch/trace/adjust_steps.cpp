// Moves starts of steps, then puts the events in order again.
#include "mindtorch/trace/adjust_steps.h"

#include "mindtorch/trace/ordering.h"

namespace mindtorch::trace {
namespace {

bool is_python_call(EventKind kind) { return kind == EventKind::kPythonFunction || kind == EventKind::kModule; }

// Returns whether the step was moved. Events of a track are sorted by start, so the calls that begin in the step follow it.
bool adjust(EventColumns& events, EventIndex step, EventIndex end_of_track) {
  const std::int64_t end_ns = events.end_ns(step);
  for (EventIndex i = step + 1; i < end_of_track && events.start_ns[i] < end_ns; ++i) {
    if (!is_python_call(events.kind[i]) || events.start_ns[i] == events.start_ns[step] || events.end_ns(i) < end_ns) continue;
    events.start_ns[step] = events.start_ns[i] + 1;
    events.duration_ns[step] = end_ns - events.start_ns[step];
    return true;
  }
  return false;
}

}  // namespace

void adjust_steps(Recording& recording) {
  bool is_moved = false;
  for (const Track& track : recording.tracks) {
    const EventIndex end = track.first_event + track.event_count;
    // From the last to the first: a step that was moved lies behind those that are still to be looked at.
    for (EventIndex i = end; i-- > track.first_event;)
      if (recording.events.kind[i] == EventKind::kStep) is_moved |= adjust(recording.events, i, end);
  }
  if (!is_moved) return;
  order_events(recording, track_column(recording));
  order_side_rows(recording);
}

}  // namespace mindtorch::trace
