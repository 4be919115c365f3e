// What the files of this folder add to the module: one function each.
#pragma once

#include <Python.h>

#include "python/src/bindings.h"

namespace mindtorch::python {

// The arguments that a torch.autograd.Function is applied to. Torch reports the tensors among them, and tells the others to its own
// profiler only. They are read from the Python function that applies it, which Dynamo cannot notice.
//
// Adds _applied_arguments(places, tensor) -> address of a C function: std::size_t (std::int64_t* words, std::size_t capacity). `places`
// says for the code of each function that applies which of its variables holds the arguments; `tensor` is the class of tensors.
//
// The C function writes the arguments of the application that this thread is about to begin, as a row of trace/inputs.h in which a tensor
// has no sizes, and returns how many words it wrote; 0 if there are none to tell.
void bind_applied_arguments(nb::module_& module);

// ExecutionTrace in Python.
void bind_execution_trace(nb::module_& module);

// Calls of all objects of a class as scopes, for classes that other packages define: torch's nn.Module.
//
// Adds _record_calls_of() and _stop_recording_calls() to the module. Throws nb::python_error.
void add_call_slot(PyObject* module);

// Hooks for dispatchers written in Python, as functions of the C API.
//
// Adds is_profiler_enabled(), dispatch_op_enter() and dispatch_op_exit() to the module.
void add_dispatch_hooks(PyObject* module);

// Calls of Python modules (nn.Module) as scopes.
//
// Adds _module_scope() to the module, and lets sessions that record modules switch on the hook of mindtorch_v2.nn.
void add_module_calls(PyObject* module);

// Calls of Python and C functions as events: `python_calls=True`.
//
// Adds _monitor_python_calls(), _profile_python_calls() and _stop_python_calls() to the module. Throws nb::python_error.
void add_python_calls(PyObject* module);

// record_function: a user's scope in Python, as a type of the C API.
//
// Adds the type record_function to the module.
void add_record_function(PyObject* module);

// _RecordFunctionFast: torch's scope for generated code, as a type of the C API.
//
// Adds the type _RecordFunctionFast to the module.
void add_record_function_fast(PyObject* module);

// A function of Python that is told when a session starts and stops, for libraries that know plain functions alone (the PyTorch bridge).
//
// _session_listener(callable) -> the address of a function void(uint32_t wants) that calls it.
void bind_session_listener(nb::module_& module);

}  // namespace mindtorch::python
