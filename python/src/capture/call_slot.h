// Calls of all objects of a class as scopes, for classes that other packages define: torch's nn.Module.
#pragma once

#include <Python.h>

namespace mindtorch::python {

// Adds _record_calls_of() and _stop_recording_calls() to the module. Throws nb::python_error.
void add_call_slot(PyObject* module);

}  // namespace mindtorch::python
