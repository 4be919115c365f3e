// Types of the C API.
#include "python/src/capture/raw_type.h"

#include <nanobind/nanobind.h>

namespace mindtorch::python {

void add_type(PyObject* module, PyTypeObject& type) {
  if (PyModule_AddType(module, &type) < 0) throw nanobind::python_error();
}

void add_functions(PyObject* module, PyMethodDef* functions) {
  if (PyModule_AddFunctions(module, functions) < 0) throw nanobind::python_error();
}

}  // namespace mindtorch::python
