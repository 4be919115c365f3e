// ExecutionTrace in Python.
#pragma once

#include "python/src/bindings.h"

namespace mindtorch::python {

void bind_execution_trace(nb::module_& module);

}  // namespace mindtorch::python
