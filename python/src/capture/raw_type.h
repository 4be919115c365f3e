// Types of the C API, for the few objects whose cost a user's inner loop pays: no binding layer between the interpreter and the work.
#pragma once

#include <Python.h>

namespace mindtorch::python {

// Adds a type that is complete but for PyType_Ready() to the module under the last part of its name. Throws nb::python_error.
void add_type(PyObject* module, PyTypeObject& type);
// Adds functions (a table that ends with an empty row and lives as long as the process).
void add_functions(PyObject* module, PyMethodDef* functions);

}  // namespace mindtorch::python
