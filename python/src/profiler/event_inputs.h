// Arguments and attributes of an event as Python values.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

#include "python/src/profiler/event_handle.h"

namespace mindtorch::python {

// One item per argument: the value of a scalar, a text or a list of numbers; None for tensors and anything else.
nb::list concrete_inputs(const EventHandle& handle);
// torch's name of the type of each argument: "float", "Scalar", "TensorList", "".
nb::list input_types(const EventHandle& handle);
// The attributes of the event: {"bytes": 1024, "grid": [1, 1, 1]}.
nb::dict attributes(const EventHandle& handle);
// The correlation id of a launch and of the device activity that it started; 0 for other events.
std::int64_t correlation_of(const EventHandle& handle);

}  // namespace mindtorch::python
