// Calls of Python and C functions as events: `python_calls=True`.
#pragma once

#include <Python.h>

namespace mindtorch::python {

// Adds _monitor_python_calls(), _profile_python_calls() and _stop_python_calls() to the module. Throws nb::python_error.
void add_python_calls(PyObject* module);

}  // namespace mindtorch::python
