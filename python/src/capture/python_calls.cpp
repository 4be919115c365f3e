// Calls of Python and C functions, which the interpreter reports to sys.monitoring or to a profile function.
#include <nanobind/nanobind.h>

#include <new>
#include <vector>

#include "mindtorch/record/state.h"
#include "python/src/capture/call_monitoring.h"
#include "python/src/capture/interpreter_frames.h"
#include "python/src/capture/open_calls.h"
#include "python/src/capture/parts.h"
#include "python/src/capture/raw_type.h"

namespace mindtorch::python {
namespace {

namespace nb = nanobind;

bool is_profile_function_set = false;  // under the GIL

void report(OpenCalls& calls, PyFrameObject* frame, int what, PyObject* argument) {
  switch (what) {
    case PyTrace_CALL: return calls.python_call_begins(code_of(frame));
    case PyTrace_RETURN: return calls.call_ends(code_of(frame));
    case PyTrace_C_CALL: return calls.c_call_begins(argument);
    case PyTrace_C_RETURN:
    case PyTrace_C_EXCEPTION: return calls.call_ends(argument);
    default: return;
  }
}

// The frame of a first call is the innermost of those that begin.
void report_first(std::uint64_t state, PyFrameObject* frame, int what, PyObject* argument) {
  OpenCalls& calls = OpenCalls::begin_thread(state, PyEval_GetFrame());
  if (what != PyTrace_CALL) report(calls, frame, what, argument);
}

void record_call(PyFrameObject* frame, int what, PyObject* argument) noexcept {
  const std::uint64_t state = record::current_state();
  if (state == 0) return;
  try {
    if (OpenCalls* const calls = OpenCalls::of_thread(state)) [[likely]]
      report(*calls, frame, what, argument);
    else
      report_first(state, frame, what, argument);
  } catch (const std::bad_alloc&) {
    // The call is not shown.
  }
}

int profile_function(PyObject* programs, PyFrameObject* frame, int what, PyObject* argument);
PyObject* set_programs_function(PyObject*, PyObject* function);

// Whether a C function is the one that has just set the program's function. Without ours, the interpreter would not report its return.
bool sets_programs_function(PyObject* function) {
  return PyCFunction_Check(function) && PyCFunction_GET_FUNCTION(function) == &set_programs_function;
}

// Calls the function that the program has set on this thread, as the interpreter would. One that fails is not called again.
int call_programs_function(PyObject* function, PyFrameObject* frame, int what, PyObject* argument) {
  if (what == PyTrace_C_RETURN && sets_programs_function(argument)) return 0;
  static constexpr const char* kEvents[] = {"call", "exception", "line", "return", "c_call", "c_exception", "c_return", "opcode"};
  PyObject* const result = PyObject_CallFunction(function, "OsO", frame, kEvents[what], argument == nullptr ? Py_None : argument);
  if (result == nullptr) PyEval_SetProfile(profile_function, nullptr);
  Py_XDECREF(result);
  return result == nullptr ? -1 : 0;
}

// `programs` is the function that the program has set on this thread meanwhile, or null.
int profile_function(PyObject* programs, PyFrameObject* frame, int what, PyObject* argument) {
  record_call(frame, what, argument);
  return programs == nullptr ? 0 : call_programs_function(programs, frame, what, argument);
}

#if PY_VERSION_HEX >= 0x030C0000
void set_profile_on_all_threads(Py_tracefunc function) { PyEval_SetProfileAllThreads(function, nullptr); }
#else
void set_profile_on_all_threads(Py_tracefunc function) {
  // Setting it for a thread may run an audit hook, and thereby let threads end: the list is read first.
  std::vector<PyThreadState*> threads;
  for (PyThreadState* it = PyInterpreterState_ThreadHead(PyInterpreterState_Get()); it != nullptr; it = PyThreadState_Next(it))
    threads.push_back(it);
  for (PyThreadState* thread : threads)
    if (_PyEval_SetProfile(thread, function, nullptr) < 0) PyErr_Clear();
}
#endif

// Runs work() and returns true or false for Python.
template <class Work>
PyObject* answer(Work work) {
  try {
    return PyBool_FromLong(work());
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  }
  return nullptr;
}

PyObject* start_monitoring(PyObject*, PyObject*) {
  return answer([] {
    call_names().session_begins();
    return start_monitoring_calls();
  });
}

PyObject* start_profile_function(PyObject*, PyObject*) {
  return answer([] {
    call_names().session_begins();
    is_profile_function_set = true;
    set_profile_on_all_threads(profile_function);
    return true;
  });
}

PyObject* stop(PyObject*, PyObject*) {
  return answer([] {
    OpenCalls::end_thread();
    stop_monitoring_calls();
    if (is_profile_function_set) set_profile_on_all_threads(nullptr);
    is_profile_function_set = false;
    call_names().clear();
    return true;
  });
}

// The first event of a thread that threading has started: from the next event on, the profile function is called directly.
PyObject* join(PyObject*, PyObject* const*, Py_ssize_t) {
  PyEval_SetProfile(is_profile_function_set ? profile_function : nullptr, nullptr);
  Py_RETURN_NONE;
}

// Stands for sys.setprofile while calls are recorded: both functions are called, and sys.getprofile() knows only the program's.
PyObject* set_programs_function(PyObject*, PyObject* function) {
  PyEval_SetProfile(profile_function, function == Py_None ? nullptr : function);
  Py_RETURN_NONE;
}

// True if the profile function of this thread is ours, whatever the program has set beside it.
PyObject* is_joined(PyObject*, PyObject*) { return PyBool_FromLong(PyThreadState_Get()->c_profilefunc == profile_function); }

PyMethodDef functions[] = {
    {"_monitor_python_calls", start_monitoring, METH_NOARGS,
     "_monitor_python_calls()\n--\n\nRecords calls on all threads through sys.monitoring. False if that cannot be had."},
    {"_profile_python_calls", start_profile_function, METH_NOARGS,
     "_profile_python_calls()\n--\n\nRecords calls on all threads that run now, with a profile function."},
    {"_stop_python_calls", stop, METH_NOARGS, "_stop_python_calls()\n--\n\nEnds what was begun."},
    {"_is_profiled", is_joined, METH_NOARGS,
     "_is_profiled()\n--\n\nWhether the calls of this thread are reported to a profile function of ours."},
    {"_setprofile", set_programs_function, METH_O,
     "_setprofile(function, /)\n--\n\nSets a profile function beside that which records calls."},
    method("_join_python_calls", join, "_join_python_calls(frame, event, arg, /)\n--\n\nA profile function for threads that start later."),
    {},
};

}  // namespace

void add_python_calls(PyObject* module) { add_functions(module, functions); }

}  // namespace mindtorch::python
