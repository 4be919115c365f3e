// Bringing a Recording into order.
#include "mindtorch/trace/ordering.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace mindtorch::trace {
namespace {

// Makes row k of a column what row order[k] was.
template <class T>
void gather(Column<T>& column, std::span<const EventIndex> order) {
  Column<T> sorted(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) sorted[k] = column[order[k]];
  column.swap(sorted);
}

// Counts the events of each track, and says which event comes where if tracks are laid one after another.
std::vector<EventIndex> group(std::vector<Track>& tracks, std::span<const TrackId> track_of_event) {
  for (Track& track : tracks) track.event_count = 0;
  for (const TrackId track : track_of_event) ++tracks[track].event_count;
  std::vector<EventIndex> next(tracks.size());
  EventIndex first = 0;
  for (std::size_t t = 0; t < tracks.size(); ++t) {
    tracks[t].first_event = next[t] = first;
    first += tracks[t].event_count;
  }
  std::vector<EventIndex> order(track_of_event.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[next[track_of_event[i]]++] = static_cast<EventIndex>(i);
  return order;
}

struct Key {
  std::int64_t start, duration;
  EventIndex event;
  bool operator<(const Key& other) const {
    if (start != other.start) return start < other.start;
    if (duration != other.duration) return duration > other.duration;
    return event < other.event;
  }
};

void sort_track(const EventColumns& events, std::span<EventIndex> order) {
  const auto key = [&](EventIndex e) { return Key{events.start_ns[e], events.duration_ns[e], e}; };
  bool sorted = true;
  for (std::size_t k = 1; k < order.size() && sorted; ++k) sorted = key(order[k - 1]) < key(order[k]);
  if (sorted) return;
  std::vector<Key> keys(order.size());
  std::ranges::transform(order, keys.begin(), key);
  std::ranges::sort(keys, std::less<Key>());
  std::ranges::transform(keys, order.begin(), &Key::event);
}

template <class T>
void renumber(SideTable<T>& table, std::span<const EventIndex> new_index) {
  for (EventIndex& event : table.events) event = new_index[event];
  order_rows(table, SameEvent::kJoinedRows);
}

void order_memory(MemoryColumns& memory) {
  if (std::ranges::is_sorted(memory.time_ns)) return;
  std::vector<EventIndex> order(memory.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](EventIndex i) { return memory.time_ns[i]; });
  gather(memory.time_ns, order);
  gather(memory.track, order);
  gather(memory.address, order);
  gather(memory.bytes, order);
  gather(memory.device, order);
  gather(memory.total_allocated, order);
  gather(memory.total_reserved, order);
}

}  // namespace

std::vector<EventIndex> order_events(Recording& recording, std::span<const TrackId> track_of_event) {
  EventColumns& events = recording.events;
  std::vector<EventIndex> order = group(recording.tracks, track_of_event);
  for (const Track& track : recording.tracks) sort_track(events, std::span(order).subspan(track.first_event, track.event_count));
  if (std::ranges::is_sorted(order)) return {};

  gather(events.start_ns, order);
  gather(events.duration_ns, order);
  gather(events.name, order);
  gather(events.link, order);
  gather(events.device, order);
  gather(events.kind, order);
  gather(events.flags, order);
  std::vector<EventIndex> new_index(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) new_index[order[k]] = static_cast<EventIndex>(k);
  renumber(recording.inputs, new_index);
  renumber(recording.attributes, new_index);
  renumber(recording.stacks.of_event, new_index);
  return new_index;
}

void order_marks(Recording& recording) {
  order_memory(recording.memory);
  std::ranges::stable_sort(recording.memory_tags, {}, &MemoryTag::time_ns);
  std::ranges::stable_sort(recording.steps, {}, &StepMark::time_ns);
}

template <class T>
void order_rows(SideTable<T>& table, SameEvent same) {
  if (std::ranges::adjacent_find(table.events, std::ranges::greater_equal()) == table.events.end()) return;
  std::vector<std::size_t> order(table.events.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t row) { return table.events[row]; });
  SideTable<T> sorted;
  sorted.events.reserve(table.events.size());
  sorted.offsets.reserve(table.offsets.size());
  sorted.values.reserve(table.values.size());
  for (const std::size_t row : order) {
    const std::span<const T> values(table.values.data() + table.offsets[row], table.values.data() + table.offsets[row + 1]);
    if (sorted.events.empty() || sorted.events.back() != table.events[row]) {
      sorted.add(table.events[row], values);
      continue;
    }
    if (same == SameEvent::kLastRow) sorted.values.resize(sorted.offsets[sorted.offsets.size() - 2]);
    sorted.values.insert(sorted.values.end(), values.begin(), values.end());
    sorted.offsets.back() = sorted.values.size();
  }
  table = std::move(sorted);
}
template void order_rows(SideTable<std::int64_t>&, SameEvent);
template void order_rows(SideTable<Attribute>&, SameEvent);
template void order_rows(SideTable<StackId>&, SameEvent);

}  // namespace mindtorch::trace
