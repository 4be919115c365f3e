// What the module _C does for other compiled modules of the package, which have no state of their own for it: the interpreter ends once,
// and the Python class of an error is one object.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>

namespace mindtorch::python {

namespace nb = nanobind;

struct Services {
  static constexpr const char* kName = "mindtorch_v2._C._services";  // of the capsule

  bool (*begin_stay)() noexcept;
  void (*end_stay)() noexcept;
  void (*set_python_error)(const std::exception_ptr& pending) noexcept;
};

// Adds the capsule `_services` to _C.
void lend_services(nb::module_& module);

}  // namespace mindtorch::python
