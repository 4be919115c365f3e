// Bringing a Recording whose rows came in any order into the order its invariants ask for. Nothing is moved that lies right already.
#pragma once

#include <span>
#include <vector>

#include "mindtorch/trace/recording.h"

namespace mindtorch::trace {

// Groups events by track and sorts each track by start, longer first, else as they came. Sets first_event and event_count of the tracks and
// renumbers the side tables. Returns the new index of each event, empty if none moved. O(n) if each track's events came in order.
std::vector<EventIndex> order_events(Recording& recording, std::span<const TrackId> track_of_event);

// Sorts memory events, tags and step marks by time; those of equal time stay as they came.
void order_marks(Recording& recording);

// What two rows of one event become.
enum class SameEvent { kLastRow, kJoinedRows };

// Sorts the rows of a side table by event and leaves one row an event.
template <class T>
void order_rows(SideTable<T>& table, SameEvent same);

}  // namespace mindtorch::trace
