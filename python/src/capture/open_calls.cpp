// Each open call has its slot.
#include "python/src/capture/open_calls.h"

#include <nanobind/nanobind.h>

#include <algorithm>
#include <vector>

#include "mindtorch/record/hooks.h"

namespace mindtorch::python {
namespace {

namespace nb = nanobind;

struct OpenCall {
  const void* function;  // the code object, or the function if it is written in C
  record::Slot* slot;    // null if the call is not shown
};

struct ThreadCalls {
  std::uint64_t state = 0;  // of the session that the open calls were recorded in
  std::vector<OpenCall> open;
};

thread_local ThreadCalls thread_calls;

void begin_frames(std::uint64_t state, PyFrameObject* innermost) {
  std::vector<nb::object> frames;
  for (nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(innermost)); frame.is_valid();) {
    frames.push_back(frame);
    frame = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(reinterpret_cast<PyFrameObject*>(frame.ptr()))));
  }
  for (auto frame = frames.rbegin(); frame != frames.rend(); ++frame) {
    const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(frame->ptr()))));
    python_call_begins(state, reinterpret_cast<PyCodeObject*>(code.ptr()));
  }
}

}  // namespace

CallNames& call_names() {
  static CallNames& it = *new CallNames;
  return it;
}

bool is_first_call(std::uint64_t state, PyFrameObject* (*innermost)()) {
  if (thread_calls.state == state) [[likely]]
    return false;
  thread_calls.open.clear();
  thread_calls.state = state;
  begin_frames(state, innermost());
  return true;
}

void python_call_begins(std::uint64_t state, PyCodeObject* code) { c_call_begins(state, code, call_names().of_code(code)); }

void c_call_begins(std::uint64_t state, const void* function, trace::NameId name) {
  record::Slot* slot =
      name != 0 ? record::open_slot(state, name, record::EventKind::kPythonFunction, 0, record::Device{}, 0, record::Ends::kInCall)
                : nullptr;
  thread_calls.open.push_back({function, slot});
}

bool is_in_hidden_call() noexcept { return !thread_calls.open.empty() && thread_calls.open.back().slot == nullptr; }

void call_ends(std::uint64_t state, const void* function) noexcept {
  std::vector<OpenCall>& open = thread_calls.open;
  const auto found = std::find_if(open.rbegin(), open.rend(), [&](const OpenCall& call) { return call.function == function; });
  if (found == open.rend()) return;
  const auto last = found.base() - 1;
  for (auto call = open.end(); call-- != last;)
    if (call->slot != nullptr) record::close_slot(call->slot, state);
  open.erase(last, open.end());
}

void end_open_calls() noexcept {
  const std::uint64_t state = record::current_state();
  if (state == 0 || state != thread_calls.state) return;
  while (!thread_calls.open.empty()) call_ends(state, thread_calls.open.back().function);
}

}  // namespace mindtorch::python
