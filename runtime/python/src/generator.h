// mindtorch_v2.Generator.
#pragma once

#include <nanobind/nanobind.h>

#include "mindtorch/runtime/generator.h"

namespace mindtorch::python {

namespace nb = nanobind;

// Generator, default_generator, manual_seed.
void bind_generator(nb::module_& module);

// Null if the object is something else.
Generator* as_generator(PyObject* object);

}  // namespace mindtorch::python
