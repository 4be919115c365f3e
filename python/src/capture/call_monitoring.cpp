// The callbacks of sys.monitoring.
#include "python/src/capture/call_monitoring.h"

#include <Python.h>

#if PY_VERSION_HEX >= 0x030C0000

#include <nanobind/nanobind.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include "mindtorch/record/state.h"
#include "python/src/capture/open_calls.h"

namespace mindtorch::python {
namespace {

namespace nb = nanobind;

// Calls work(calls of this thread, is_first) if a session records.
template <class Work>
PyObject* while_recording(Work work) {
  if (const std::uint64_t state = record::current_state(); state != 0) {
    try {
      if (OpenCalls* const calls = OpenCalls::of_thread(state)) [[likely]]
        work(*calls, false);
      else
        work(OpenCalls::begin_thread(state, PyEval_GetFrame()), true);
    } catch (const std::bad_alloc&) {
      // The call is not shown.
    }
  }
  Py_RETURN_NONE;
}

// (code, offset, ...): a function starts, a generator goes on, or an exception is thrown into one.
PyObject* function_begins(PyObject*, PyObject* const* values, std::size_t, PyObject*) {
  return while_recording([&](OpenCalls& calls, bool is_first) {
    // The frame of the first call is the innermost of those that have begun.
    if (!is_first) calls.python_call_begins(reinterpret_cast<PyCodeObject*>(values[0]));
  });
}

// (code, offset, ...): a function returns, yields, or is left by an exception.
PyObject* function_ends(PyObject*, PyObject* const* values, std::size_t, PyObject*) {
  return while_recording([&](OpenCalls& calls, bool) { calls.call_ends(values[0]); });
}

// A profile function is told about the same ones. Classes and objects with __call__ are called too, but have no event of their own.
bool is_c_method(PyObject* callable) { return Py_IS_TYPE(callable, &PyMethodDescr_Type); }
bool is_c_function(PyObject* callable) { return PyCFunction_Check(callable) != 0; }

// (code, offset, callable, first argument)
PyObject* c_function_begins(PyObject*, PyObject* const* values, std::size_t, PyObject*) {
  if (is_c_function(values[2])) return while_recording([&](OpenCalls& calls, bool) { calls.c_call_begins(values[2]); });
  if (is_c_method(values[2])) return while_recording([&](OpenCalls& calls, bool) { calls.method_call_begins(values[2], values[3]); });
  Py_RETURN_NONE;
}

PyObject* c_function_ends(PyObject*, PyObject* const* values, std::size_t, PyObject*) {
  if (!is_c_function(values[2]) && !is_c_method(values[2])) Py_RETURN_NONE;
  return while_recording([&](OpenCalls& calls, bool) { calls.call_ends(values[2]); });
}

struct MonitoredEvent {
  const char* name;
  vectorcallfunc callback;
  bool is_chosen;  // false: comes with CALL
};
constexpr std::array kEvents{
    MonitoredEvent{"PY_START", function_begins, true}, MonitoredEvent{"PY_RESUME", function_begins, true},
    MonitoredEvent{"PY_THROW", function_begins, true}, MonitoredEvent{"PY_RETURN", function_ends, true},
    MonitoredEvent{"PY_YIELD", function_ends, true},   MonitoredEvent{"PY_UNWIND", function_ends, true},
    MonitoredEvent{"CALL", c_function_begins, true},   MonitoredEvent{"C_RETURN", c_function_ends, false},
    MonitoredEvent{"C_RAISE", c_function_ends, false},
};

// An object that calls a callback and does nothing else. A built-in function would look at its arguments and count the depth of calls
// first.
struct Callback {
  PyObject_HEAD vectorcallfunc call;
};

PyTypeObject make_callback_type() {
  PyTypeObject type = {PyVarObject_HEAD_INIT(nullptr, 0)};
  type.tp_name = "mindtorch_v2._C._MonitoringCallback";
  type.tp_doc = "Called by sys.monitoring.";
  type.tp_basicsize = sizeof(Callback);
  type.tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_VECTORCALL;
  type.tp_vectorcall_offset = offsetof(Callback, call);
  type.tp_call = PyVectorcall_Call;
  return type;
}

nb::object make_callback(vectorcallfunc call) {
  static PyTypeObject type = make_callback_type();
  if (PyType_Ready(&type) < 0) nb::raise_python_error();
  auto* const callback = PyObject_New(Callback, &type);
  if (callback == nullptr) nb::raise_python_error();
  callback->call = call;
  return nb::steal(reinterpret_cast<PyObject*>(callback));
}

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
    monitoring().attr("register_callback")(tool, number, make_callback(event.callback));
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
