// The embedded runtime in Python.
#include "python/src/bindings.h"

namespace mindtorch::python {

void bind_runtime(nb::module_&) {}

}  // namespace mindtorch::python
