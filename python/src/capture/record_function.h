// record_function: a user's scope in Python, as a type of the C API.
#pragma once

#include <Python.h>

namespace mindtorch::python {

// Adds the type record_function to the module.
void add_record_function(PyObject* module);

}  // namespace mindtorch::python
