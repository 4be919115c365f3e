// The callbacks of sys.monitoring.
#include "python/src/capture/call_monitoring.h"

#include <Python.h>

#if PY_VERSION_HEX >= 0x030C0000

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <new>

#include "mindtorch/record/state.h"
#include "python/src/capture/open_calls.h"
#include "python/src/capture/raw_type.h"

namespace mindtorch::python {
namespace {

namespace nb = nanobind;

// Calls work(state, is_first) if a session records.
template <class Work>
PyObject* while_recording(Work work) {
  if (const std::uint64_t state = record::current_state(); state != 0) {
    try {
      work(state, is_first_call(state, PyEval_GetFrame));
    } catch (const std::bad_alloc&) {
      // The call is not shown.
    }
  }
  Py_RETURN_NONE;
}

// (code, offset, ...): a function starts, a generator goes on, or an exception is thrown into one.
PyObject* function_begins(PyObject*, PyObject* const* values, Py_ssize_t) {
  return while_recording([&](std::uint64_t state, bool is_first) {
    // The frame of the first call is the innermost of those that have begun.
    if (!is_first) python_call_begins(state, reinterpret_cast<PyCodeObject*>(values[0]));
  });
}

// (code, offset, ...): a function returns, yields, or is left by an exception.
PyObject* function_ends(PyObject*, PyObject* const* values, Py_ssize_t) {
  return while_recording([&](std::uint64_t state, bool) { call_ends(state, values[0]); });
}

// A profile function is told about the same ones. Classes and objects with __call__ are called too, but have no event of their own.
bool is_c_function(PyObject* callable) { return PyCFunction_Check(callable) != 0 || Py_IS_TYPE(callable, &PyMethodDescr_Type); }

trace::NameId name_of(PyObject* function, PyObject* first_argument) {
  return PyCFunction_Check(function) != 0 ? call_names().of_c_function(function) : call_names().of_method(function, first_argument);
}

// (code, offset, callable, first argument)
PyObject* c_function_begins(PyObject*, PyObject* const* values, Py_ssize_t) {
  if (!is_c_function(values[2])) Py_RETURN_NONE;
  return while_recording(
      [&](std::uint64_t state, bool) { c_call_begins(state, values[2], is_in_hidden_call() ? 0 : name_of(values[2], values[3])); });
}

PyObject* c_function_ends(PyObject*, PyObject* const* values, Py_ssize_t) {
  if (!is_c_function(values[2])) Py_RETURN_NONE;
  return while_recording([&](std::uint64_t state, bool) { call_ends(state, values[2]); });
}

PyMethodDef callbacks[] = {
    method("function_begins", function_begins, nullptr),
    method("function_ends", function_ends, nullptr),
    method("c_function_begins", c_function_begins, nullptr),
    method("c_function_ends", c_function_ends, nullptr),
};

struct MonitoredEvent {
  const char* name;
  PyMethodDef* callback;
  bool is_chosen;  // false: comes with CALL
};
const std::array kEvents{
    MonitoredEvent{"PY_START", &callbacks[0], true}, MonitoredEvent{"PY_RESUME", &callbacks[0], true},
    MonitoredEvent{"PY_THROW", &callbacks[0], true}, MonitoredEvent{"PY_RETURN", &callbacks[1], true},
    MonitoredEvent{"PY_YIELD", &callbacks[1], true}, MonitoredEvent{"PY_UNWIND", &callbacks[1], true},
    MonitoredEvent{"CALL", &callbacks[2], true},     MonitoredEvent{"C_RETURN", &callbacks[3], false},
    MonitoredEvent{"C_RAISE", &callbacks[3], false},
};

constexpr int kNoTool = -1;
int tool = kNoTool;  // our number in sys.monitoring; under the GIL

nb::object monitoring() { return nb::module_::import_("sys").attr("monitoring"); }

// The number that Python has for profilers, or one of the two that it has for no purpose. The others are a debugger's, a coverage tool's
// and an optimizer's.
int take_tool() {
  for (const int number : {nb::cast<int>(monitoring().attr("PROFILER_ID")), 3, 4}) {
    try {
      monitoring().attr("use_tool_id")(number, "mindtorch_v2.profiler");
      return number;
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_ValueError)) throw;  // else another tool has it
    }
  }
  return kNoTool;
}

}  // namespace

bool start_monitoring_calls() {
  tool = take_tool();
  if (tool == kNoTool) return false;
  const nb::object events = monitoring().attr("events");
  int chosen = 0;
  for (const MonitoredEvent& event : kEvents) {
    const nb::object number = events.attr(event.name);
    monitoring().attr("register_callback")(tool, number, nb::steal(PyCFunction_New(event.callback, nullptr)));
    if (event.is_chosen) chosen |= nb::cast<int>(number);
  }
  monitoring().attr("set_events")(tool, chosen);
  return true;
}

void stop_monitoring_calls() {
  if (tool == kNoTool) return;
  monitoring().attr("set_events")(tool, 0);
  for (const MonitoredEvent& event : kEvents)
    monitoring().attr("register_callback")(tool, monitoring().attr("events").attr(event.name), nb::none());
  monitoring().attr("free_tool_id")(tool);
  tool = kNoTool;
}

}  // namespace mindtorch::python

#else

namespace mindtorch::python {

bool start_monitoring_calls() { return false; }
void stop_monitoring_calls() {}

}  // namespace mindtorch::python

#endif
