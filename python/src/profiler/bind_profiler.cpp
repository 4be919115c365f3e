// The profiler in Python.
#include "python/src/bindings.h"

namespace mindtorch::python {

void bind_profiler(nb::module_&) {}

}  // namespace mindtorch::python
