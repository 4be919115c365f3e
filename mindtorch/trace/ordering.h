// Helpers for code that makes a Recording: they sort its rows into the order that its invariants require. Rows that are in order are not
// moved.
#pragma once

#include <span>
#include <vector>

#include "mindtorch/trace/recording.h"

namespace mindtorch::trace {

// Groups events by track and sorts each track by start, longer first, else as they came. Sets first_event and event_count of the tracks and
// renumbers the side tables, whose rows may lie in any order: order_side_rows() is still to be called. Returns the new index of each event,
// empty if none moved. O(n) if each track's events came in order.
std::vector<EventIndex> order_events(Recording& recording, std::span<const TrackId> track_of_event);

// Sorts memory events by time; those of equal time stay as they came.
void order_memory(MemoryColumns& memory);

// The same for samples of threads.
void order_samples(SampleColumns& samples);

// Sorts memory events, tags, step marks, samples of threads and those of counters by time; those of equal time stay as they came.
void order_marks(Recording& recording);

// How two rows of one event are treated: only the last one is kept, they are joined, or both are kept (which a Recording must not have).
enum class SameEvent { kLastRow, kJoinedRows, kSeparateRows };

// Sorts the rows of a side table by event; those of one event stay in the order they came.
template <class T>
void order_rows(SideTable<T>& table, SameEvent same);
template <class T>
void order_rows(SharedTable<T>& table, SameEvent same);

// Sorts the rows of all side tables by event. Of several inputs or stacks of one event the last one is kept; its attributes are joined.
void order_side_rows(Recording& recording);

// Returns the track of each event, as first_event and event_count of the tracks have it.
std::vector<TrackId> track_column(const Recording& recording);

}  // namespace mindtorch::trace
