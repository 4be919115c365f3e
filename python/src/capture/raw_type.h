// Types and functions of the C API, without a binding layer, for the few functions that are called in inner loops of users.
#pragma once

#include <Python.h>

#include <span>

namespace mindtorch::python {

// Adds a type that is complete but for PyType_Ready() to the module under the last part of its name. Throws nb::python_error.
void add_type(PyObject* module, PyTypeObject& type);
// Adds functions (a table that ends with an empty row and lives as long as the process). Throws nb::python_error.
void add_functions(PyObject* module, PyMethodDef* functions);

// A row of a method table whose function takes its arguments as an array (and the names of keyword arguments as a tuple).
using ArrayFunction = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t);
using KeywordFunction = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
PyMethodDef method(const char* name, ArrayFunction function, const char* doc);
PyMethodDef method(const char* name, KeywordFunction function, const char* doc);

struct Parameter {
  const char* name;
  PyObject** value;  // set if it is given; borrowed
};

// Hands `count` positional values, and those after them that `keyword_names` (a tuple or null) names, to the parameters of `function`.
// False and a TypeError if they do not fit, or if the first parameter is not given.
bool take_arguments(const char* function, std::span<const Parameter> parameters, PyObject* const* values, Py_ssize_t count,
                    PyObject* keyword_names);

}  // namespace mindtorch::python
