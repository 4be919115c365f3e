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

class KnownEvents;

// Keeps the recording alive; two handles of one event are equal.
struct EventHandle {
  std::shared_ptr<const analyze::Analysis> analysis;
  analyze::FunctionEvent event;
  std::weak_ptr<KnownEvents> known;  // of the list that the event comes from; none if it comes from elsewhere

  const trace::Recording& recording() const { return analysis->recording(); }
  // Another event of the recording as an object: the same one that the list gives, as long as the list exists.
  nb::object other(const analyze::FunctionEvent& found) const;
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
