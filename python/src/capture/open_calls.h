// The calls of Python and C functions that are being recorded as events. Each thread keeps those that are open, because a call may begin in
// one session and end in another, or in none.
#pragma once

#include <Python.h>

#include <cstdint>
#include <vector>

#include "mindtorch/record/hooks.h"
#include "python/src/capture/call_names.h"

// Every function needs the GIL.
namespace mindtorch::python {

// The names of all functions that are called in a session. Never destroyed: threads may call functions while the interpreter ends.
inline CallNames& call_names() {
  static CallNames& it = *new CallNames;
  return it;
}

// The open calls of one thread. Functions that are not noexcept may throw std::bad_alloc.
class OpenCalls {
 public:
  // Those of this thread in the session of `state`. Null before the first call that the thread tells it about.
  static OpenCalls* of_thread(std::uint64_t state) noexcept;
  // For the first call: the frames around it, of which `innermost` is the innermost, are shown from now on.
  static OpenCalls& begin_thread(std::uint64_t state, PyFrameObject* innermost);
  // What this thread is in the middle of ends with the recording.
  static void end_thread() noexcept;

  void python_call_begins(PyCodeObject* code) { call_begins(code, call_names().of_code(code)); }
  void c_call_begins(PyObject* function) { call_begins(function, is_in_hidden_call() ? 0 : call_names().of_c_function(function)); }
  void method_call_begins(PyObject* method, PyObject* self) {
    call_begins(method, is_in_hidden_call() ? 0 : call_names().of_method(method, self));
  }
  // `function` is what a function above was told. Calls that began inside of it and never ended (a greenlet was switched, say) end with it.
  // An unknown call began before the session.
  void call_ends(const void* function) noexcept {
    if (!open_.empty() && open_.back().function == function) [[likely]]
      return end_innermost();
    end_outer(function);
  }

 private:
  struct OpenCall {
    const void* function;  // the code object, or the function if it is written in C
    record::Slot* slot;    // null if the call is not shown
  };

  // A call without a name is not shown.
  void call_begins(const void* function, trace::NameId name) {
    open_.push_back({function, nullptr});
    if (name == 0) return;
    open_.back().slot = record::open_slot(state_, name, record::EventKind::kPythonFunction, 0, record::Device{}, 0, record::Ends::kInCall);
  }
  // What a function that is not shown calls is not shown either.
  bool is_in_hidden_call() const noexcept { return !open_.empty() && open_.back().slot == nullptr; }
  void end_innermost() noexcept {
    if (open_.back().slot != nullptr) record::close_slot(open_.back().slot, state_);
    open_.pop_back();
  }
  void end_outer(const void* function) noexcept;

  std::uint64_t state_ = 0;  // of the session that the open calls are recorded in
  std::vector<OpenCall> open_;
};

// Points to this thread's open calls, once there are some. Read by callbacks that run at each call, hence the TLS model.
extern constinit thread_local OpenCalls* thread_calls __attribute__((tls_model("initial-exec"), visibility("hidden")));

inline OpenCalls* OpenCalls::of_thread(std::uint64_t state) noexcept {
  OpenCalls* const calls = thread_calls;
  return calls != nullptr && calls->state_ == state ? calls : nullptr;
}

}  // namespace mindtorch::python
