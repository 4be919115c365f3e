// Look-ups in a Recording.
#include "mindtorch/trace/recording.h"

#include <algorithm>
#include <iterator>

namespace mindtorch::trace {

TrackId Recording::track_of(EventIndex event) const {
  // The last track that starts at or before the event; an empty track starts where the next one does, so it is never the last.
  const auto after =
      std::upper_bound(tracks.begin(), tracks.end(), event, [](EventIndex e, const Track& track) { return e < track.first_event; });
  return static_cast<TrackId>(after - tracks.begin()) - 1;
}

std::int64_t Recording::step_at(std::int64_t time_ns) const {
  const auto after =
      std::upper_bound(steps.begin(), steps.end(), time_ns, [](std::int64_t t, const StepMark& mark) { return t < mark.time_ns; });
  return after == steps.begin() ? 0 : std::prev(after)->step;
}

}  // namespace mindtorch::trace
