// The runtime's optimizers, for the classes of mindtorch_v2.optim.
#pragma once

#include <nanobind/nanobind.h>

namespace mindtorch::python {

namespace nb = nanobind;

void bind_optimizer(nb::module_& module);  // make_optimizer and its class

}  // namespace mindtorch::python
