// A scope of the recorder as context manager.
#pragma once

#include <nanobind/nanobind.h>

namespace mindtorch::python {

namespace nb = nanobind;

void bind_named_scope(nb::module_& module);  // NamedScope(name)

}  // namespace mindtorch::python
