// _RecordFunctionFast: torch's scope for generated code, as a type of the C API.
#pragma once

#include <Python.h>

namespace mindtorch::python {

// Adds the type _RecordFunctionFast to the module.
void add_record_function_fast(PyObject* module);

}  // namespace mindtorch::python
