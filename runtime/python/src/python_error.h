// Translates C++ exceptions for functions that Python calls directly (slots of types, vectorcalls).
#pragma once

#include <nanobind/nanobind.h>

#include "python/src/bindings.h"

namespace mindtorch::python {

// Calls f(); if it throws, sets the Python error and returns `failed`.
template <class F, class R = std::invoke_result_t<F>>
R guarded(F&& f, R failed = R{}) noexcept {
  try {
    return f();
  } catch (...) {
    set_python_error(std::current_exception());
    return failed;
  }
}

// For results of the C API: throws the pending Python error if there is nothing.
inline PyObject* checked(PyObject* object) {
  if (object == nullptr) throw nb::python_error();
  return object;
}

}  // namespace mindtorch::python
