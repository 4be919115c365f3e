// Tensors to and from other libraries, sharing memory.
#pragma once

#include <nanobind/nanobind.h>

namespace mindtorch::python {

namespace nb = nanobind;

void bind_numpy(nb::module_& module);   // array_source, from_buffer
void bind_dlpack(nb::module_& module);  // to_dlpack, dlpack_device, from_dlpack

}  // namespace mindtorch::python
