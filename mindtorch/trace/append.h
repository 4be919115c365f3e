// append(): joins the recordings of two sessions.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::trace {

// Appends the events of `next` (same process, later session) to `into`: names, tracks, side tables and times are mapped. Both must keep the
// invariants; the result does. Where both have a value the metadata of `next` wins, losses add up, devices, baselines and trace_id stay
// those of `into`. Throws InvalidArgument if the result would have too many events or times out of range; `into` may then be half changed.
MINDTORCH_EXPORT void append(Recording& into, const Recording& next);

}  // namespace mindtorch::trace
