// What a Python program records.
#include "python/src/bindings.h"

namespace mindtorch::python {

void bind_capture(nb::module_&) {}

}  // namespace mindtorch::python
