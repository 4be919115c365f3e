// Closes the gaps that removed events leave in columns, tracks and side tables.
#include "mindtorch/trace/keep_kinds.h"

#include <limits>
#include <utility>
#include <vector>

namespace mindtorch::trace {
namespace {

constexpr EventIndex kRemoved = std::numeric_limits<EventIndex>::max();

// The new index of each event, or kRemoved.
std::vector<EventIndex> renumbered(const EventColumns& events, const KindSet& wanted) {
  std::vector<EventIndex> new_index(events.size(), kRemoved);
  EventIndex next = 0;
  for (std::size_t i = 0; i < events.size(); ++i)
    if (wanted[static_cast<std::size_t>(events.kind[i])]) new_index[i] = next++;
  return new_index;
}

void close_gaps(EventColumns& events, const std::vector<EventIndex>& new_index) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (new_index[i] == kRemoved) continue;
    EventColumns::for_each([&](auto& column) { column[kept] = column[i]; }, events);
    ++kept;
  }
  events.resize(kept);
}

void close_gaps(std::vector<Track>& tracks, const std::vector<EventIndex>& new_index) {
  EventIndex next = 0;
  for (Track& track : tracks) {
    const EventIndex first = track.first_event, end = first + track.event_count;
    track.first_event = next;
    for (EventIndex i = first; i < end; ++i) next += new_index[i] == kRemoved ? 0 : 1;
    track.event_count = next - track.first_event;
  }
}

template <class T>
void close_gaps(SideTable<T>& table, const std::vector<EventIndex>& new_index) {
  SideTable<T> kept;
  for (const EventIndex event : table.events)
    if (new_index[event] != kRemoved) kept.add(new_index[event], table.find(event));
  table = std::move(kept);
}

template <class T>
void close_gaps(SharedTable<T>& table, const std::vector<EventIndex>& new_index) {
  std::size_t kept = 0;
  for (std::size_t k = 0; k < table.events.size(); ++k) {
    if (new_index[table.events[k]] == kRemoved) continue;
    table.events[kept] = new_index[table.events[k]];
    table.shared[kept++] = table.shared[k];
  }
  table.events.resize(kept);
  table.shared.resize(kept);
}

}  // namespace

void keep_kinds(Recording& recording, const KindSet& wanted) {
  const std::vector<EventIndex> new_index = renumbered(recording.events, wanted);
  close_gaps(recording.tracks, new_index);
  close_gaps(recording.inputs, new_index);
  close_gaps(recording.attributes, new_index);
  close_gaps(recording.stacks.of_event, new_index);
  close_gaps(recording.events, new_index);
}

}  // namespace mindtorch::trace
