// The parts of the module _C. Each is one function that adds its names to the module.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>

namespace mindtorch::python {

namespace nb = nanobind;

// Translates C++ exceptions to Python. It comes first, because the other functions may throw.
void bind_errors(nb::module_& module);
// Sets the Python error for an exception, as functions bound with nanobind do; for functions that Python calls directly.
void set_python_error(const std::exception_ptr& pending) noexcept;
// Profile, the recorded events, and files.
void bind_profiler(nb::module_& module);
// Recording from Python: scopes, hooks for dispatchers, frames.
void bind_capture(nb::module_& module);

}  // namespace mindtorch::python
