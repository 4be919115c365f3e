// EventHandle: one event as a Python object, and what it says as a mapping.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/function_event.h"

namespace mindtorch::python {

namespace nb = nanobind;

// Keeps the recording alive; two handles of one event are equal.
struct EventHandle {
  std::shared_ptr<const analyze::Analysis> analysis;
  analyze::FunctionEvent event;

  const trace::Recording& recording() const { return analysis->recording(); }
  EventHandle other(const analyze::FunctionEvent& of_same_analysis) const { return {analysis, of_same_analysis}; }
};

// The event as an object of Python.
nb::object to_python(EventHandle handle);
// torch's attributes of an event, in torch's order; null is the last.
extern const char* const kEventAttributes[];
// Shows them as `__dict__`, and lets attributes be added.
PyType_Slot* event_slots();

// The keys this event has, in a fixed order: those of side data only if it was recorded.
std::vector<std::string_view> mapping_keys(const EventHandle& handle);
// Throws nb::key_error.
nb::object mapping_value(const EventHandle& handle, std::string_view key);

// Sizes and strides as they were recorded: a list for a tensor, a list of lists for a list of tensors, [] for anything else.
nb::list structured_shapes(const EventHandle& handle);
nb::list structured_strides(const EventHandle& handle);

}  // namespace mindtorch::python
