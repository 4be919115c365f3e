// Calls of Python modules (nn.Module) as scopes.
#pragma once

#include <Python.h>

namespace mindtorch::python {

// Adds _module_scope() to the module, and lets sessions that record modules switch on the hook of mindtorch_v2.nn.
void add_module_calls(PyObject* module);

}  // namespace mindtorch::python
