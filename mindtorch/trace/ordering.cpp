// Bringing a Recording into order.
#include "mindtorch/trace/ordering.h"

#include <algorithm>
#include <compare>
#include <numeric>

#include "mindtorch/base/mostly_sorted.h"
#include "mindtorch/trace/side_rows.h"

namespace mindtorch::trace {
namespace {

// Rows that stay neighbours when a table is reordered: moved as one.
struct Run {
  std::size_t first, count;
};

std::vector<Run> runs_of(std::span<const EventIndex> order) {
  std::vector<Run> runs;
  for (const EventIndex row : order) {
    if (runs.empty() || runs.back().first + runs.back().count != row) runs.push_back({row, 0});
    ++runs.back().count;
  }
  return runs;
}

// Finds rows of a side table by event. Neighbouring runs have few rows between them, so the row that was found last is often right again.
template <class Table>
class RowFinder {
 public:
  explicit RowFinder(const Table& table) : table_(table), events_(table.events) {}
  // The first row that is of `event` or a later one.
  std::size_t first_of(std::size_t event) {
    const bool is_here = (at_ == 0 || events_[at_ - 1] < event) && (at_ == events_.size() || events_[at_] >= event);
    if (!is_here) at_ = first_row(table_, event);
    return at_;
  }

 private:
  const Table& table_;
  std::span<const EventIndex> events_;
  std::size_t at_ = 0;
};

// Lays the runs of a column one after another.
template <class T>
void gather(Column<T>& column, std::span<const Run> runs) {
  constexpr std::size_t kWorthACopy = 8;  // shorter runs are moved row by row, which is faster than a call
  Column<T> sorted(column.size());
  T* to = sorted.data();
  for (const Run& run : runs) {
    const T* const from = column.data() + run.first;
    if (run.count >= kWorthACopy) {
      to = std::copy_n(from, run.count, to);
    } else {
      for (std::size_t k = 0; k < run.count; ++k) *to++ = from[k];
    }
  }
  column.swap(sorted);
}

// The same for the rows of a side table.
template <class T>
void gather(SideTable<T>& table, std::span<const Run> runs) {
  if (table.empty()) return;
  order_rows(table, SameEvent::kSeparateRows);
  SideTable<T> sorted;
  sorted.events.reserve(table.events.size());
  sorted.offsets.reserve(table.offsets.size());
  sorted.values.reserve(table.values.size());
  RowFinder rows(table);
  std::size_t new_first = 0;
  for (const Run& run : runs) {
    const std::size_t begin = rows.first_of(run.first), end = rows.first_of(run.first + run.count);
    const std::uint64_t value = table.offsets[begin], to = sorted.values.size();
    for (std::size_t row = begin; row < end; ++row) {
      sorted.events.push_back(static_cast<EventIndex>(new_first + (table.events[row] - run.first)));
      sorted.offsets.push_back(table.offsets[row + 1] - value + to);
    }
    sorted.values.insert(sorted.values.end(), table.values.begin() + static_cast<std::ptrdiff_t>(value),
                         table.values.begin() + static_cast<std::ptrdiff_t>(table.offsets[end]));
    new_first += run.count;
  }
  table = std::move(sorted);
}

// Shared rows stay where they are.
template <class T>
void gather(SharedTable<T>& table, std::span<const Run> runs) {
  if (table.empty()) return;
  order_rows(table, SameEvent::kSeparateRows);
  std::vector<EventIndex> events;
  std::vector<std::uint32_t> shared;
  events.reserve(table.events.size());
  shared.reserve(table.events.size());
  RowFinder rows(table);
  std::size_t new_first = 0;
  for (const Run& run : runs) {
    const std::size_t begin = rows.first_of(run.first), end = rows.first_of(run.first + run.count);
    for (std::size_t k = begin; k < end; ++k) events.push_back(static_cast<EventIndex>(new_first + (table.events[k] - run.first)));
    shared.insert(shared.end(), table.shared.begin() + static_cast<std::ptrdiff_t>(begin),
                  table.shared.begin() + static_cast<std::ptrdiff_t>(end));
    new_first += run.count;
  }
  table.events = std::move(events);
  table.shared = std::move(shared);
}

// Counts the events of each track, and computes the position of each event if the tracks are laid one after another.
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
  friend bool operator==(const Key&, const Key&) = default;
  friend std::strong_ordering operator<=>(const Key& a, const Key& b) {
    if (a.start != b.start) return a.start <=> b.start;
    if (a.duration != b.duration) return b.duration <=> a.duration;  // what is around others comes before them
    return a.event <=> b.event;
  }
};

// Most events come in order. Few come late, such as a step that is written when it ends.
void sort_track(const EventColumns& events, std::span<EventIndex> order) {
  sort_mostly_sorted(order, [&](EventIndex e) { return Key{events.start_ns[e], events.duration_ns[e], e}; });
}

}  // namespace

std::vector<EventIndex> order_events(Recording& recording, std::span<const TrackId> track_of_event) {
  EventColumns& events = recording.events;
  std::vector<EventIndex> order = group(recording.tracks, track_of_event);
  for (const Track& track : recording.tracks) sort_track(events, std::span(order).subspan(track.first_event, track.event_count));
  const std::vector<Run> runs = runs_of(order);
  if (runs.size() <= 1) return {};

  EventColumns::for_each([&](auto& column) { gather(column, runs); }, events);
  gather(recording.inputs, runs);
  gather(recording.attributes, runs);
  gather(recording.stacks.of_event, runs);
  std::vector<EventIndex> new_index(order.size());
  for (std::size_t k = 0; k < order.size(); ++k) new_index[order[k]] = static_cast<EventIndex>(k);
  return new_index;
}

namespace {

template <class AnyColumns>
void order_by_time(AnyColumns& rows) {
  if (std::ranges::is_sorted(rows.time_ns)) return;
  std::vector<EventIndex> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](EventIndex i) { return rows.time_ns[i]; });
  const std::vector<Run> runs = runs_of(order);
  AnyColumns::for_each([&](auto& column) { gather(column, runs); }, rows);
}

}  // namespace

void order_memory(MemoryColumns& memory) { order_by_time(memory); }
void order_samples(SampleColumns& samples) { order_by_time(samples); }

void order_marks(Recording& recording) {
  order_memory(recording.memory);
  order_samples(recording.samples);
  std::ranges::stable_sort(recording.memory_tags, {}, &MemoryTag::time_ns);
  std::ranges::stable_sort(recording.steps, {}, &StepMark::time_ns);
  for (CounterTrack& counter : recording.counters) order_samples(counter);
}

namespace {

bool are_in_order(const std::vector<EventIndex>& events, SameEvent same) {
  return same == SameEvent::kSeparateRows ? std::ranges::is_sorted(events)
                                          : std::ranges::adjacent_find(events, std::ranges::greater_equal()) == events.end();
}

// The rows of a table by event; rows of the same event keep their order.
std::vector<std::size_t> rows_by_event(const std::vector<EventIndex>& events) {
  std::vector<std::size_t> order(events.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t row) { return events[row]; });
  return order;
}

}  // namespace

template <class T>
void order_rows(SideTable<T>& table, SameEvent same) {
  if (are_in_order(table.events, same)) return;
  const bool separate = same == SameEvent::kSeparateRows;
  SideTable<T> sorted;
  sorted.events.reserve(table.events.size());
  sorted.offsets.reserve(table.offsets.size());
  sorted.values.reserve(table.values.size());
  for (const std::size_t row : rows_by_event(table.events)) {
    const std::span<const T> values = table.row(row);
    if (separate || sorted.events.empty() || sorted.events.back() != table.events[row]) {
      sorted.add(table.events[row], values);
      continue;
    }
    if (same == SameEvent::kLastRow) sorted.values.resize(sorted.offsets[sorted.offsets.size() - 2]);
    sorted.values.insert(sorted.values.end(), values.begin(), values.end());
    sorted.offsets.back() = sorted.values.size();
  }
  table = std::move(sorted);
}

template <class T>
void order_rows(SharedTable<T>& table, SameEvent same) {
  if (are_in_order(table.events, same)) return;
  SharedTable<T> sorted{.events = {}, .shared = {}, .offsets = std::move(table.offsets), .values = std::move(table.values)};
  for (const std::size_t row : rows_by_event(table.events)) {
    if (same == SameEvent::kSeparateRows || sorted.events.empty() || sorted.events.back() != table.events[row]) {
      sorted.share(table.events[row], table.shared[row]);
      continue;
    }
    std::vector<T> joined;
    if (same == SameEvent::kJoinedRows)
      joined.assign(sorted.row(sorted.events.size() - 1).begin(), sorted.row(sorted.events.size() - 1).end());
    const std::span<const T> more = sorted.shared_row(table.shared[row]);
    joined.insert(joined.end(), more.begin(), more.end());
    sorted.shared.back() = sorted.add_shared_row(joined);
  }
  table = std::move(sorted);
}

template void order_rows(SideTable<std::int64_t>&, SameEvent);
template void order_rows(SharedTable<Attribute>&, SameEvent);
template void order_rows(SideTable<StackId>&, SameEvent);

void order_side_rows(Recording& recording) {
  order_rows(recording.inputs, SameEvent::kLastRow);
  order_rows(recording.stacks.of_event, SameEvent::kLastRow);
  order_rows(recording.attributes, SameEvent::kJoinedRows);
}

std::vector<TrackId> track_column(const Recording& recording) {
  std::vector<TrackId> column(recording.events.size());
  for (TrackId id = 0; id < recording.tracks.size(); ++id) {
    const Track& track = recording.tracks[id];
    std::fill_n(column.begin() + track.first_event, track.event_count, id);
  }
  return column;
}

}  // namespace mindtorch::trace
