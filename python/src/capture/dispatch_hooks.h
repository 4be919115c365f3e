// Hooks for dispatchers written in Python, as functions of the C API.
#pragma once

#include <Python.h>

namespace mindtorch::python {

// Adds is_profiler_enabled(), dispatch_op_enter() and dispatch_op_exit() to the module.
void add_dispatch_hooks(PyObject* module);

}  // namespace mindtorch::python
