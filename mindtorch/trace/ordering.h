// Helpers for code that makes a Recording: they reserve memory for its rows, and sort rows into the order that its invariants require. Rows
// that are in order are not moved.
#pragma once

#include <span>
#include <vector>

#include "mindtorch/trace/recording.h"

namespace mindtorch::trace {

// Reserves memory for so many events in every column.
void reserve(EventColumns& columns, std::size_t events);

// Groups events by track and sorts each track by start, longer first, else as they came. Sets first_event and event_count of the tracks and
// renumbers the side tables, whose rows may lie in any order: order_rows() is still to be called. Returns the new index of each event,
// empty if none moved. O(n) if each track's events came in order.
std::vector<EventIndex> order_events(Recording& recording, std::span<const TrackId> track_of_event);

// Sorts memory events, tags and step marks by time; those of equal time stay as they came.
void order_marks(Recording& recording);

// How two rows of one event are treated: only the last one is kept, they are joined, or both are kept (which a Recording must not have).
enum class SameEvent { kLastRow, kJoinedRows, kSeparateRows };

// Sorts the rows of a side table by event; those of one event stay in the order they came.
template <class T>
void order_rows(SideTable<T>& table, SameEvent same);

}  // namespace mindtorch::trace
