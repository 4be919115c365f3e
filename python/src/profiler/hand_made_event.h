// Events made by hand: objects of the Python class FunctionEvent (mindtorch_v2/autograd/_function_event.py).
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "mindtorch/analyze/average.h"
#include "python/src/profiler/event_list_trace.h"

namespace mindtorch::python {

bool is_hand_made(nanobind::handle item);
// The event as a row of a table, in whole nanoseconds. Throws what its attributes throw, InvalidArgument for shapes that are no list of
// lists of numbers.
analyze::Average hand_made_row(nanobind::handle event);
// None: it is not to be in a trace.
std::optional<ListedEvent> hand_made_listed(nanobind::handle event);

}  // namespace mindtorch::python
