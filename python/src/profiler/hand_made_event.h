// Events made by hand: objects of the Python class FunctionEvent (mindtorch_v2/events/function_event.py).
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "mindtorch/analyze/average.h"
#include "mindtorch/export/chrome/list_writer.h"

namespace mindtorch::python {

bool is_hand_made(nanobind::handle item);
// Attributes of a hand-made event: a truth value of any type, and the type of its device.
bool is_true(nanobind::handle event, const char* name);
trace::DeviceType device_type_of(nanobind::handle event);
// Returns the event as a row of a table, in whole nanoseconds. Throws what its attributes throw, and InvalidArgument for shapes that are
// not a list of lists of numbers.
analyze::Average hand_made_row(nanobind::handle event);
// Returns no value if the event is not to be in a trace.
std::optional<exporter::ListedEvent> hand_made_listed(nanobind::handle event);

}  // namespace mindtorch::python
