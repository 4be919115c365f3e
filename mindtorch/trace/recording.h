// Recording: everything that one session recorded, in columns. It is the central data type of the library: record makes it, analyze reads
// it, and export writes it.
//
// Invariants (check_invariants() tests them; RecordingBuilder establishes them):
//  - events are grouped by track in the order of `tracks`; inside a track by start, longer first when starts are equal;
//  - times are nanoseconds since clock.base_unix_ns; end = start + duration >= start;
//  - names[0] is "", every NameId is in range; side tables are sorted by event;
//  - memory events, tags and step marks are sorted by time.
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

struct MINDTORCH_EXPORT EventColumns {
  Column<std::int64_t> start_ns;
  Column<std::int64_t> duration_ns;
  Column<NameId> name;
  Column<std::uint64_t> link;
  Column<Device> device;  // where the op's tensors live, or the device of the activity
  Column<EventKind> kind;
  Column<std::uint8_t> flags;

  std::size_t size() const { return start_ns.size(); }
  void resize(std::size_t n);
  std::int64_t end_ns(EventIndex i) const { return start_ns[i] + duration_ns[i]; }
  friend bool operator==(const EventColumns&, const EventColumns&) = default;
};

// Values that only some events have: values of events[k] are values[offsets[k] .. offsets[k+1]).
template <class T>
struct SideTable {
  std::vector<EventIndex> events;
  std::vector<std::uint64_t> offsets{0};
  std::vector<T> values;

  bool empty() const { return events.empty(); }
  // The values of one event, empty if it has none. O(log n).
  std::span<const T> find(EventIndex event) const;
  // Rows must be added in the order of events.
  void add(EventIndex event, std::span<const T> row);
  friend bool operator==(const SideTable&, const SideTable&) = default;
};

using StackId = std::uint32_t;

// Call stacks, innermost frame first, each distinct stack stored once.
struct Stacks {
  std::vector<Frame> frames;
  std::vector<std::uint32_t> offsets{0};  // stack s is frame_ids[offsets[s] .. offsets[s+1])
  std::vector<std::uint32_t> frame_ids;
  SideTable<StackId> of_event;  // one value a row

  std::size_t size() const { return offsets.size() - 1; }
  std::span<const std::uint32_t> frames_of(StackId stack) const {
    return {frame_ids.data() + offsets[stack], frame_ids.data() + offsets[stack + 1]};
  }
  friend bool operator==(const Stacks&, const Stacks&) = default;
};

// Allocations (bytes > 0) and frees (bytes < 0), in order of time.
struct MINDTORCH_EXPORT MemoryColumns {
  Column<std::int64_t> time_ns;
  Column<TrackId> track;
  Column<std::uint64_t> address;
  Column<std::int64_t> bytes;
  Column<Device> device;
  Column<std::int64_t> total_allocated;  // after this event, on this device
  Column<std::int64_t> total_reserved;

  std::size_t size() const { return time_ns.size(); }
  void resize(std::size_t n);
  friend bool operator==(const MemoryColumns&, const MemoryColumns&) = default;
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

// Which side data was asked for. A key that was not asked for is absent, not empty.
struct RecordedOptions {
  bool shapes = false;
  bool stacks = false;
  bool memory = false;
  bool flops = false;
  bool modules = false;
  std::vector<DeviceType> activities;  // as asked for, CPU included
  friend bool operator==(const RecordedOptions&, const RecordedOptions&) = default;
};

struct MINDTORCH_EXPORT Recording {
  std::vector<std::string> names{""};
  std::vector<Track> tracks;
  EventColumns events;
  SideTable<std::int64_t> inputs;  // encoded arguments, see inputs.h
  SideTable<Attribute> attributes;
  Stacks stacks;
  MemoryColumns memory;
  std::vector<MemoryTag> memory_tags;
  std::vector<MemoryBaseline> memory_baselines;
  std::vector<StepMark> steps;
  ClockInfo clock;
  RecordedOptions options;
  std::map<std::string, std::string> metadata;  // key -> JSON text, always valid JSON
  std::vector<Loss> losses;
  std::string trace_id;

  std::string_view name(EventIndex event) const { return names[events.name[event]]; }
  // The track an event lies on. O(log tracks).
  TrackId track_of(EventIndex event) const;
  // Number of the step a time belongs to (0 before the first mark).
  std::int64_t step_at(std::int64_t time_ns) const;
  friend bool operator==(const Recording&, const Recording&) = default;
};

// Returns an empty string if all invariants hold, and otherwise a sentence that describes the first violation.
MINDTORCH_EXPORT std::string check_invariants(const Recording& recording);

// Appends the events of `next` (same process, later session) to `into`: names, tracks, side tables and times are mapped. Both must keep the
// invariants; the result does. Where both have a value the metadata of `next` wins, losses add up, baselines and trace_id stay those of
// `into`. Throws InvalidArgument if the result would have too many events or times out of range; `into` may then be half changed.
MINDTORCH_EXPORT void append(Recording& into, const Recording& next);

template <class T>
void SideTable<T>::add(EventIndex event, std::span<const T> row) {
  events.push_back(event);
  values.insert(values.end(), row.begin(), row.end());
  offsets.push_back(values.size());
}

template <class T>
std::span<const T> SideTable<T>::find(EventIndex event) const {
  const auto at = std::lower_bound(events.begin(), events.end(), event);
  if (at == events.end() || *at != event) return {};
  const std::size_t row = static_cast<std::size_t>(at - events.begin());
  return {values.data() + offsets[row], values.data() + offsets[row + 1]};
}

}  // namespace mindtorch::trace
