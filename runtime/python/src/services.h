// The functions of python/src/interpreter_exit.h and python/src/bindings.h that this module calls are those of the module _C.
#pragma once

namespace mindtorch::python {

// Imports _C and takes its services. Comes first, because the other functions may throw.
void borrow_services();

}  // namespace mindtorch::python
