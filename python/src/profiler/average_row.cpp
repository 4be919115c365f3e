// The references of a row of key averages: its parent, its children, and the event that it comes from.
#include "python/src/profiler/average_row.h"

#include "mindtorch/base/error.h"
#include "python/src/profiler/added_attributes.h"
#include "python/src/profiler/event_handle.h"
#include "python/src/profiler/hand_made_event.h"

namespace mindtorch::python {
namespace {

nb::object recorded_event(const AverageRow& row, analyze::EventIndex event) {
  if (!row.analysis || event == analyze::kNoEvent) return nb::none();
  return to_python(EventHandle{row.analysis, {*row.analysis, event}, {}});
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (PyObject** const dict = _PyObject_GetDictPtr(self)) Py_VISIT(*dict);
  if (!nb::inst_ready(self)) return 0;
  const AverageRow& row = *nb::inst_ptr<AverageRow>(self);
  Py_VISIT(row.cpu_parent.ptr());
  Py_VISIT(row.cpu_children.ptr());
  return 0;
}

int clear(PyObject* self) {
  if (PyObject** const dict = _PyObject_GetDictPtr(self)) Py_CLEAR(*dict);
  AverageRow& row = *nb::inst_ptr<AverageRow>(self);
  row.cpu_parent.reset();
  row.cpu_children.reset();
  return 0;
}

PyGetSetDef row_dict[] = {{"__dict__", get_dict, nullptr, nullptr, static_cast<void*>(const_cast<const char**>(kRowAttributes))}, {}};

}  // namespace

const char* const kRowAttributes[] = {"key",
                                      "count",
                                      "node_id",
                                      "is_async",
                                      "is_remote",
                                      "use_device",
                                      "cpu_time_total",
                                      "device_time_total",
                                      "self_cpu_time_total",
                                      "self_device_time_total",
                                      "input_shapes",
                                      "overload_name",
                                      "stack",
                                      "scope",
                                      "cpu_memory_usage",
                                      "device_memory_usage",
                                      "self_cpu_memory_usage",
                                      "self_device_memory_usage",
                                      "cpu_children",
                                      "cpu_parent",
                                      "device_type",
                                      "is_legacy",
                                      "flops",
                                      "is_user_annotation",
                                      nullptr};

nb::object AverageRow::parent() const { return cpu_parent.is_valid() ? cpu_parent : recorded_event(*this, average.parent); }

nb::object AverageRow::children() const {
  if (cpu_children.is_valid()) return cpu_children;
  if (!has_key) return nb::none();
  const nb::object first = recorded_event(*this, average.first_event);
  return first.is_none() ? nb::object(nb::list()) : first.attr("cpu_children");
}

// In the average it only counts whether there is a parent.
void AverageRow::set_parent(const nb::object& parent) {
  cpu_parent = parent;
  average.parent = parent.is_none() ? analyze::kNoEvent : 0;
}

void AverageRow::take_relations(nb::handle event) {
  if (nb::isinstance<EventHandle>(event)) {
    analysis = nb::cast<const EventHandle&>(event).analysis;
  } else if (nb::isinstance<AverageRow>(event)) {
    const auto& row = nb::cast<const AverageRow&>(event);
    analysis = row.analysis;
    cpu_parent = row.cpu_parent;
    cpu_children = row.cpu_children;
  } else {
    set_parent(event.attr("cpu_parent"));
    cpu_children = event.attr("cpu_children");
  }
}

PyType_Slot* average_row_slots() {
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                                {Py_tp_clear, reinterpret_cast<void*>(clear)},
                                {Py_tp_getset, row_dict},
                                {0, nullptr}};
  return slots;
}

analyze::Average row_of(nb::handle item) {
  if (nb::isinstance<AverageRow>(item)) return nb::cast<const AverageRow&>(item).average;
  if (nb::isinstance<EventHandle>(item)) return nb::cast<const EventHandle&>(item).event.as_row();
  if (is_hand_made(item)) return hand_made_row(item);
  throw AssertionFailed("Expected other to be a FunctionEvent or FunctionEventAvg");
}

}  // namespace mindtorch::python
