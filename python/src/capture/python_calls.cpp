// Calls of Python and C functions, which the interpreter reports to a profile function. Each thread keeps the calls that are open, because
// a call may begin in one session and end in another, or in none.
#include "python/src/capture/python_calls.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <new>
#include <vector>

#include "mindtorch/record/hooks.h"
#include "python/src/capture/call_names.h"
#include "python/src/capture/raw_type.h"

namespace mindtorch::python {
namespace {

namespace nb = nanobind;

// Never destroyed: threads may call functions while the interpreter ends.
CallNames& names() {
  static CallNames& it = *new CallNames;
  return it;
}

struct OpenCall {
  const void* what;    // the frame, or the function if it is written in C
  record::Slot* slot;  // null if the call is not shown
};

struct ThreadCalls {
  std::uint64_t state = 0;  // of the session that the open calls were recorded in
  std::vector<OpenCall> open;
};

thread_local ThreadCalls thread_calls;

bool is_started = false;  // under the GIL

void begin(std::uint64_t state, const void* what, trace::NameId name) {
  record::Slot* slot =
      name != 0 ? record::open_slot(state, name, record::EventKind::kPythonFunction, 0, record::Device{}, 0, record::Ends::kInCall)
                : nullptr;
  thread_calls.open.push_back({what, slot});
}

// Calls that began inside `what` and never ended (a greenlet was switched, say) end with it. An unknown call began before the session.
void end(std::uint64_t state, const void* what) noexcept {
  std::vector<OpenCall>& open = thread_calls.open;
  const auto found = std::find_if(open.rbegin(), open.rend(), [&](const OpenCall& call) { return call.what == what; });
  if (found == open.rend()) return;
  const auto last = found.base() - 1;
  for (auto call = open.end(); call-- != last;)
    if (call->slot != nullptr) record::close_slot(call->slot, state);
  open.erase(last, open.end());
}

trace::NameId name_of_frame(PyFrameObject* frame) {
  const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  return names().of_code(reinterpret_cast<PyCodeObject*>(code.ptr()));
}

// The frames around the first call that this thread reports in a session: they began earlier, and are shown from now on.
void begin_outer_frames(std::uint64_t state, PyFrameObject* innermost) {
  std::vector<nb::object> frames;
  for (nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(innermost)); frame.is_valid();) {
    frames.push_back(frame);
    frame = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(reinterpret_cast<PyFrameObject*>(frame.ptr()))));
  }
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame)
    begin(state, frame->ptr(), name_of_frame(reinterpret_cast<PyFrameObject*>(frame->ptr())));
}

// Functions that are not shown call others, which are not shown either.
bool is_hidden_call() noexcept { return !thread_calls.open.empty() && thread_calls.open.back().slot == nullptr; }

void report(std::uint64_t state, PyFrameObject* frame, int what, PyObject* argument) {
  if (thread_calls.state != state) [[unlikely]] {
    thread_calls.open.clear();
    thread_calls.state = state;
    begin_outer_frames(state, frame);
    if (what == PyTrace_CALL) return;  // its frame is the innermost of those
  }
  switch (what) {
    case PyTrace_CALL: return begin(state, frame, name_of_frame(frame));
    case PyTrace_RETURN: return end(state, frame);
    case PyTrace_C_CALL: return begin(state, argument, is_hidden_call() ? 0 : names().of_c_function(argument));
    case PyTrace_C_RETURN:
    case PyTrace_C_EXCEPTION: return end(state, argument);
    default: return;
  }
}

int profile_function(PyObject*, PyFrameObject* frame, int what, PyObject* argument) {
  const std::uint64_t state = record::current_state();
  if (state == 0) return 0;
  try {
    report(state, frame, what, argument);
  } catch (const std::bad_alloc&) {
    // The call is not shown.
  }
  return 0;
}

// --- All threads ---

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

PyObject* start(PyObject*, PyObject*) {
  try {
    names().session_begins();
  } catch (nb::python_error& error) {
    error.restore();
    return nullptr;
  }
  is_started = true;
  set_profile_on_all_threads(profile_function);
  Py_RETURN_NONE;
}

// What this thread is in the middle of ends with the recording.
void end_open_calls() noexcept {
  if (const std::uint64_t state = record::current_state(); state != 0 && state == thread_calls.state && !thread_calls.open.empty())
    end(state, thread_calls.open.front().what);
}

PyObject* stop(PyObject*, PyObject*) {
  end_open_calls();
  if (is_started) set_profile_on_all_threads(nullptr);
  is_started = false;
  names().clear();
  Py_RETURN_NONE;
}

// The first event of a thread that threading has started: from the next event on, the profile function is called directly.
PyObject* join(PyObject*, PyObject* const*, Py_ssize_t) {
  PyEval_SetProfile(is_started ? profile_function : nullptr, nullptr);
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"_start_python_calls", start, METH_NOARGS, "_start_python_calls()\n--\n\nRecords calls on all threads that run now."},
    {"_stop_python_calls", stop, METH_NOARGS, "_stop_python_calls()\n--\n\nEnds what _start_python_calls() began."},
    method("_join_python_calls", join, "_join_python_calls(frame, event, arg, /)\n--\n\nA profile function for threads that start later."),
    {},
};

}  // namespace

void add_python_calls(PyObject* module) { add_functions(module, functions); }

}  // namespace mindtorch::python
