// The calls of Python and C functions that are being recorded as events. Each thread keeps those that are open, because a call may begin in
// one session and end in another, or in none.
#pragma once

#include <Python.h>

#include <cstdint>

#include "mindtorch/trace/event.h"
#include "python/src/capture/call_names.h"

// Every function needs the GIL. Those that take `state`, the state word of a session, may throw std::bad_alloc unless they are noexcept.
namespace mindtorch::python {

// The names of all functions that are called in a session. Never destroyed: threads may call functions while the interpreter ends.
CallNames& call_names();

// Must be called before anything else is told about a call. If it is the first one of this thread in the session, the frames around the
// call, of which `innermost` returns the innermost, are shown from now on; then it is true.
bool is_first_call(std::uint64_t state, PyFrameObject* (*innermost)());

void python_call_begins(std::uint64_t state, PyCodeObject* code);
// `name` is 0 if the call is not shown.
void c_call_begins(std::uint64_t state, const void* function, trace::NameId name);
// Whether this thread is in a function that is not shown. What it calls is not shown either.
bool is_in_hidden_call() noexcept;

// `function` is a code object or what c_call_begins() was told. Calls that began inside of it and never ended (a greenlet was switched,
// say) end with it. An unknown call began before the session.
void call_ends(std::uint64_t state, const void* function) noexcept;

// What this thread is in the middle of ends with the recording.
void end_open_calls() noexcept;

}  // namespace mindtorch::python
