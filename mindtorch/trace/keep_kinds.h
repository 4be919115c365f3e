// keep_kinds(): removes the kinds of events that are not wanted from a recording.
#pragma once

#include <bitset>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::trace {

using KindSet = std::bitset<kEventKinds>;  // by the number of an EventKind

// Removes every event of another kind, and its side data. Tracks, names, memory reports and losses stay. O(events).
MINDTORCH_EXPORT void keep_kinds(Recording& recording, const KindSet& wanted);

}  // namespace mindtorch::trace
