// Walks one row of a layout the way viewers that know only begin and end need it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "mindtorch/export/layout.h"
#include "mindtorch/trace/open_spans.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::exporter {

// Calls begin(event), end(event) and instant(event) in order of time; at equal times ends (innermost first) come before begins (outermost
// first). Begins and ends are balanced and nest. O(events of the track).
template <class Begin, class End, class Instant>
void walk_row(const trace::Recording& recording, const Layout& layout, std::uint32_t row, Begin begin, End end, Instant instant) {
  const trace::EventColumns& events = recording.events;
  const trace::TrackId track = layout.rows[row].track;
  const trace::EventIndex first = recording.tracks[track].first_event, last = first + recording.tracks[track].event_count;
  trace::OpenSpans<trace::EventIndex> open;
  const auto close_until = [&](std::int64_t time) { open.close_until(time, [&](const auto& span) { end(span.value); }); };
  auto in_lane = std::ranges::lower_bound(layout.lane_events, first, {}, &LaneEvent::event);
  for (trace::EventIndex i = first; i < last; ++i) {
    const bool is_in_lane = in_lane != layout.lane_events.end() && in_lane->event == i;
    const std::uint32_t row_of_event = is_in_lane ? (in_lane++)->row : track;
    if (row_of_event != row) continue;
    close_until(events.start_ns[i]);
    if (events.kind[i] == trace::EventKind::kInstant) {
      instant(i);
    } else {
      begin(i);
      open.open(events.end_ns(i), i);
    }
  }
  close_until(std::numeric_limits<std::int64_t>::max());
}

}  // namespace mindtorch::exporter
