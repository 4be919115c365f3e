// Types and functions of the C API.
#include "python/src/capture/raw_type.h"

#include <nanobind/nanobind.h>

#include <algorithm>

namespace mindtorch::python {

void add_type(PyObject* module, PyTypeObject& type) {
  if (PyModule_AddType(module, &type) < 0) throw nanobind::python_error();
}

void add_functions(PyObject* module, PyMethodDef* functions) {
  if (PyModule_AddFunctions(module, functions) < 0) throw nanobind::python_error();
}

PyMethodDef method(const char* name, ArrayFunction function, const char* doc) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL, doc};
}
PyMethodDef method(const char* name, KeywordFunction function, const char* doc) {
  return {name, reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function)), METH_FASTCALL | METH_KEYWORDS, doc};
}

bool take_arguments(const char* function, std::span<const Parameter> parameters, PyObject* const* values, Py_ssize_t count,
                    PyObject* keyword_names) {
  if (count > static_cast<Py_ssize_t>(parameters.size())) {
    PyErr_Format(PyExc_TypeError, "%s() takes at most %zd arguments, got %zd", function, static_cast<Py_ssize_t>(parameters.size()), count);
    return false;
  }
  for (Py_ssize_t i = 0; i < count; ++i) *parameters[static_cast<std::size_t>(i)].value = values[i];
  for (Py_ssize_t i = 0; keyword_names != nullptr && i < PyTuple_GET_SIZE(keyword_names); ++i) {
    PyObject* const name = PyTuple_GET_ITEM(keyword_names, i);
    const auto named = std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& parameter) {
      return PyUnicode_CompareWithASCIIString(name, parameter.name) == 0;
    });
    if (named == parameters.end() || named - parameters.begin() < count) {
      const char* problem = named == parameters.end() ? "an unexpected keyword argument" : "two values for argument";
      PyErr_Format(PyExc_TypeError, "%s() got %s %R", function, problem, name);
      return false;
    }
    *named->value = values[count + i];
  }
  if (*parameters.front().value != nullptr) return true;
  PyErr_Format(PyExc_TypeError, "%s() needs the argument '%s'", function, parameters.front().name);
  return false;
}

}  // namespace mindtorch::python
