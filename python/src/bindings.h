// The pieces that the module _C is made of; each is one function that adds its names to the module.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>

namespace mindtorch::python {

namespace nb = nanobind;

// Exceptions of C++ become Python's; first, because the others may throw while they are set up.
void bind_errors(nb::module_& module);
// Sets the Python error for an exception, as functions bound with nanobind do; for functions that Python calls directly.
void set_python_error(const std::exception_ptr& pending) noexcept;
// Tensors, ops, autograd and devices of the embedded runtime.
void bind_runtime(nb::module_& module);
// Profile, what it recorded, and the files it writes.
void bind_profiler(nb::module_& module);
// What a Python program records while it runs: scopes, hooks for dispatchers, frames.
void bind_capture(nb::module_& module);

}  // namespace mindtorch::python
