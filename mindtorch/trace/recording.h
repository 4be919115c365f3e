// Recording: everything that one session recorded, in columns. It is the central data type of the library: record makes it, analyze reads
// it, and export writes it.
//
// Invariants (check_invariants() in invariants.h tests them; RecordingBuilder establishes them):
//  - events are grouped by track in the order of `tracks`; inside a track by start, longer first when starts are equal;
//  - times are nanoseconds since clock.base_unix_ns; end = start + duration >= start;
//  - names[0] is "", every NameId is in range; side tables are sorted by event;
//  - memory events, tags, step marks, samples of threads and the samples of each counter are sorted by time.
// A Recording is a value: no locks, no threads. Reading it from many threads at once is safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/counter_track.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::trace {

// A vector whose resize() does not zero the new elements, because columns are filled right afterwards.
template <class T>
struct UninitializedAllocator : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = UninitializedAllocator<U>;
  };
  template <class U>
  void construct(U* at) noexcept(std::is_nothrow_default_constructible_v<U>) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }
};
template <class T>
using Column = std::vector<T, UninitializedAllocator<T>>;

// The fields of an event. `Of<T>` holds one field: a column of all events, the value of one event, a pointer or a span. Code that treats
// all fields alike uses for_each(), so that a new field is listed here only.
template <template <class> class Of>
struct EventFields {
  Of<std::int64_t> start_ns{};
  Of<std::int64_t> duration_ns{};
  Of<NameId> name{};
  Of<std::uint64_t> link{};
  Of<Device> device{};  // where the op's tensors live, or the device of the activity
  Of<EventKind> kind{};
  Of<std::uint8_t> flags{};

  // Calls visit(a.start_ns, b.start_ns, ...), visit(a.duration_ns, b.duration_ns, ...) and so on for the fields of a, b, ...
  template <class Visit, class... Fields>
  static constexpr void for_each(Visit&& visit, Fields&&... of) {
    visit(of.start_ns...);
    visit(of.duration_ns...);
    visit(of.name...);
    visit(of.link...);
    visit(of.device...);
    visit(of.kind...);
    visit(of.flags...);
  }
  friend bool operator==(const EventFields&, const EventFields&) = default;
};

// The fields of an allocation (bytes > 0) or of a free (bytes < 0), as EventFields are those of an event.
template <template <class> class Of>
struct MemoryFields {
  Of<std::int64_t> time_ns{};
  Of<TrackId> track{};
  Of<std::uint64_t> address{};
  Of<std::int64_t> bytes{};
  Of<Device> device{};
  Of<std::int64_t> total_allocated{};  // after this event, on this device
  Of<std::int64_t> total_reserved{};

  template <class Visit, class... Fields>
  static constexpr void for_each(Visit&& visit, Fields&&... of) {
    visit(of.time_ns...);
    visit(of.track...);
    visit(of.address...);
    visit(of.bytes...);
    visit(of.device...);
    visit(of.total_allocated...);
    visit(of.total_reserved...);
  }
  friend bool operator==(const MemoryFields&, const MemoryFields&) = default;
};

using StackId = std::uint32_t;  // index into Recording::stacks

// The fields of a sample: what a thread did when a sampler looked at it. The sample stands for the time until the thread was looked at
// next, and for as many looks as found the thread in the same place.
template <template <class> class Of>
struct SampleFields {
  Of<std::int64_t> time_ns{};
  Of<std::int64_t> duration_ns{};
  Of<TrackId> track{};
  Of<StackId> stack{};  // an empty one if the thread ran no Python
  Of<ThreadState> state{};

  template <class Visit, class... Fields>
  static constexpr void for_each(Visit&& visit, Fields&&... of) {
    visit(of.time_ns...);
    visit(of.duration_ns...);
    visit(of.track...);
    visit(of.stack...);
    visit(of.state...);
  }
  friend bool operator==(const SampleFields&, const SampleFields&) = default;
};

// One column for each of the fields, all of the same length.
template <template <template <class> class> class Fields>
struct Columns : Fields<Column> {
  using Row = Fields<std::type_identity_t>;

  std::size_t size() const {
    std::size_t size = 0;
    this->for_each([&](const auto& column) { size = column.size(); }, *this);
    return size;
  }
  void resize(std::size_t n) {
    this->for_each([&](auto& column) { column.resize(n); }, *this);
  }
  void reserve(std::size_t n) {
    this->for_each([&](auto& column) { column.reserve(n); }, *this);
  }
  void set(std::size_t i, const Row& row) {
    this->for_each([&](auto& column, const auto& value) { column[i] = value; }, *this, row);
  }
  void push_back(const Row& row) {
    this->for_each([](auto& column, const auto& value) { column.push_back(value); }, *this, row);
  }
  void append(const Columns& next) {
    this->for_each([](auto& column, const auto& more) { column.insert(column.end(), more.begin(), more.end()); }, *this, next);
  }
  static constexpr std::size_t field_count() {
    std::size_t count = 0;
    Row::for_each([&](const auto&) { ++count; }, Row{});
    return count;
  }
  // Memory that one row takes in all columns together.
  static constexpr std::size_t row_bytes() {
    std::size_t bytes = 0;
    Row::for_each([&](const auto& value) { bytes += sizeof(value); }, Row{});
    return bytes;
  }
  friend bool operator==(const Columns&, const Columns&) = default;
};

struct EventColumns : Columns<EventFields> {
  std::int64_t end_ns(EventIndex i) const { return start_ns[i] + duration_ns[i]; }
  friend bool operator==(const EventColumns&, const EventColumns&) = default;
};

// The rows are in order of time.
struct MemoryColumns : Columns<MemoryFields> {
  friend bool operator==(const MemoryColumns&, const MemoryColumns&) = default;
};

// The rows are in order of time.
struct SampleColumns : Columns<SampleFields> {
  std::int64_t end_ns(std::size_t i) const { return time_ns[i] + duration_ns[i]; }
  friend bool operator==(const SampleColumns&, const SampleColumns&) = default;
};

// Values that only some events have: values of events[k] are values[offsets[k] .. offsets[k+1]).
template <class T>
struct SideTable {
  using Value = T;
  std::vector<EventIndex> events;
  std::vector<std::uint64_t> offsets{0};
  std::vector<T> values;

  bool empty() const { return events.empty(); }
  // The values of events[k].
  std::span<const T> row(std::size_t k) const { return {values.data() + offsets[k], values.data() + offsets[k + 1]}; }
  // The values of one event, empty if it has none. O(log n).
  std::span<const T> find(EventIndex event) const;
  // Rows must be added in the order of events.
  void add(EventIndex event, std::span<const T> row);
  friend bool operator==(const SideTable&, const SideTable&) = default;
};

// The same for values that many events share: events[k] has the shared row shared[k], and shared row s is
// values[offsets[s] .. offsets[s + 1]). A shared row may be of no event. The kernels of a program that runs for hours have few distinct
// launch parameters, so that a kernel takes eight bytes here.
template <class T>
struct SharedTable {
  using Value = T;
  std::vector<EventIndex> events;
  std::vector<std::uint32_t> shared;
  std::vector<std::uint64_t> offsets{0};
  std::vector<T> values;

  bool empty() const { return events.empty(); }
  std::size_t shared_rows() const { return offsets.size() - 1; }
  std::span<const T> shared_row(std::size_t s) const { return {values.data() + offsets[s], values.data() + offsets[s + 1]}; }
  std::span<const T> row(std::size_t k) const { return shared_row(shared[k]); }
  std::span<const T> find(EventIndex event) const;
  // Adds a row that any number of events may be given with share().
  std::uint32_t add_shared_row(std::span<const T> row);
  // Rows must be added in the order of events.
  void share(EventIndex event, std::uint32_t shared_row);
  void add(EventIndex event, std::span<const T> row) { share(event, add_shared_row(row)); }
  // True if the same events have the same values, however they are shared.
  friend bool operator==(const SharedTable& a, const SharedTable& b) {
    if (a.events != b.events) return false;
    for (std::size_t k = 0; k < a.events.size(); ++k)
      if (!std::ranges::equal(a.row(k), b.row(k))) return false;
    return true;
  }
};

// Call stacks, innermost frame first, each distinct stack stored once.
struct Stacks {
  std::vector<Frame> frames;
  std::vector<std::uint32_t> offsets{0};  // stack s is frame_ids[offsets[s] .. offsets[s+1])
  std::vector<std::uint32_t> frame_ids;
  SideTable<StackId> of_event;  // one value per row

  std::size_t size() const { return offsets.size() - 1; }
  std::span<const std::uint32_t> frames_of(StackId stack) const {
    return {frame_ids.data() + offsets[stack], frame_ids.data() + offsets[stack + 1]};
  }
  friend bool operator==(const Stacks&, const Stacks&) = default;
};

// The purpose that the host gave to the memory at an address, from this time on.
struct MemoryTag {
  std::int64_t time_ns = 0;
  std::uint64_t address = 0;
  MemoryCategory category = MemoryCategory::kUnknown;
  friend bool operator==(const MemoryTag&, const MemoryTag&) = default;
};

// Totals of a device when the recording started.
struct MemoryBaseline {
  Device device;
  std::int64_t allocated = 0;
  std::int64_t reserved = 0;
  friend bool operator==(const MemoryBaseline&, const MemoryBaseline&) = default;
};

// From this time on, events belong to step `step`.
struct StepMark {
  std::int64_t time_ns = 0;
  std::int64_t step = 0;
  friend bool operator==(const StepMark&, const StepMark&) = default;
};

// One clock that was mapped to the timeline, and how well.
struct ClockDomain {
  std::string name;  // "tsc", "monotonic", "reference-npu:0"
  double ticks_per_second = 1e9;
  std::int64_t error_bound_ns = 0;  // |mapped - true| of any event of this clock is at most this
  std::uint64_t samples = 0;
  friend bool operator==(const ClockDomain&, const ClockDomain&) = default;
};

struct ClockInfo {
  std::int64_t base_unix_ns = 0;  // Unix time of timeline zero
  std::int64_t start_ns = 0;      // when recording started, on the timeline
  std::int64_t end_ns = 0;        // when it stopped
  std::vector<ClockDomain> domains;
  friend bool operator==(const ClockInfo&, const ClockInfo&) = default;
};

// The side data that was asked for. A key that was not asked for is absent, not empty.
struct RecordedOptions {
  bool shapes = false;
  bool stacks = false;
  bool memory = false;
  bool flops = false;
  bool modules = false;
  std::int64_t sampling_interval_ns = 0;  // how often a sampler looked at the threads; 0 = never
  std::vector<DeviceType> activities;     // as asked for, CPU included
  friend bool operator==(const RecordedOptions&, const RecordedOptions&) = default;
};

struct MINDTORCH_EXPORT Recording {
  std::vector<std::string> names{""};
  std::vector<Track> tracks;
  EventColumns events;
  SideTable<std::int64_t> inputs;  // encoded arguments, see inputs.h
  SharedTable<Attribute> attributes;
  Stacks stacks;
  MemoryColumns memory;
  SampleColumns samples;
  std::vector<MemoryTag> memory_tags;
  std::vector<MemoryBaseline> memory_baselines;
  std::vector<StepMark> steps;
  std::vector<CounterTrack> counters;
  ClockInfo clock;
  RecordedOptions options;
  std::vector<DeviceProperties> devices;
  std::map<std::string, std::string> metadata;  // key -> JSON text, always valid JSON
  std::vector<Loss> losses;
  std::string trace_id;
  std::uint64_t first_id = 1;  // of the first event; the ids of the others follow it, then those of memory reports

  std::string_view name(EventIndex event) const { return names[events.name[event]]; }
  std::uint64_t id(EventIndex event) const { return first_id + event; }
  // Returns the track an event lies on. O(log tracks).
  TrackId track_of(EventIndex event) const;
  // Returns the number of the step a time belongs to (0 before the first mark).
  std::int64_t step_at(std::int64_t time_ns) const;
  friend bool operator==(const Recording&, const Recording&) = default;
};

template <class T>
void SideTable<T>::add(EventIndex event, std::span<const T> row) {
  events.push_back(event);
  values.insert(values.end(), row.begin(), row.end());
  offsets.push_back(values.size());
}

template <class T>
std::uint32_t SharedTable<T>::add_shared_row(std::span<const T> row) {
  values.insert(values.end(), row.begin(), row.end());
  offsets.push_back(values.size());
  return static_cast<std::uint32_t>(shared_rows() - 1);
}

template <class T>
void SharedTable<T>::share(EventIndex event, std::uint32_t shared_row) {
  events.push_back(event);
  shared.push_back(shared_row);
}

// The values of one event of either table.
template <class Table>
auto find_row(const Table& table, EventIndex event) {
  const auto at = std::lower_bound(table.events.begin(), table.events.end(), event);
  if (at == table.events.end() || *at != event) return decltype(table.row(0)){};
  return table.row(static_cast<std::size_t>(at - table.events.begin()));
}

template <class T>
std::span<const T> SideTable<T>::find(EventIndex event) const {
  return find_row(*this, event);
}

template <class T>
std::span<const T> SharedTable<T>::find(EventIndex event) const {
  return find_row(*this, event);
}

// Adds up losses of one reason and detail where there are many, as a server with a thread for each request has them. The row that is left
// says of how many places it speaks.
void join_many_losses(std::vector<Loss>& losses);

}  // namespace mindtorch::trace
