// mindtorch_v2.dtype, device, Size, memory_format: the small types that tensors are described with. All functions need the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "mindtorch/runtime/device.h"
#include "mindtorch/runtime/dim_vector.h"
#include "mindtorch/runtime/scalar_type.h"

namespace mindtorch::python {

namespace nb = nanobind;

void bind_dtype(nb::module_& module);   // dtype and its members: float32, float, ...
void bind_device(nb::module_& module);  // device
void bind_size(nb::module_& module);    // Size

// New references. There is one dtype object for each element type.
PyObject* wrap(ScalarType type);
PyObject* wrap(Device device);
PyObject* wrap_size(IntArrayRef sizes);

// Nothing if the object is something else. A device may also be given as text ("npu:1"), which must then be right.
std::optional<ScalarType> as_dtype(PyObject* object);
std::optional<Device> as_device(PyObject* object);

}  // namespace mindtorch::python
