// Converts Python data to tensors and back. Needs the GIL.
#pragma once

#include <nanobind/nanobind.h>

#include "mindtorch/runtime/tensor.h"

namespace mindtorch::python {

namespace nb = nanobind;

// torch.tensor(): numbers, nested sequences of them, arrays. The type is that of the data unless `dtype` says otherwise. Always a copy,
// without history.
Tensor tensor_from_data(PyObject* data, std::optional<ScalarType> dtype, std::optional<Device> device);

// torch.Tensor(...): sizes, or data as the default type.
Tensor legacy_tensor(PyObject* args);

// Memory of an object with the buffer protocol (a NumPy array), shared.
Tensor tensor_from_buffer(PyObject* object);

// Nested lists of Python numbers; a number for a tensor without dimensions.
PyObject* to_list(const Tensor& tensor);

// bytes_of and tensor_of_bytes, with which Python code writes tensors to files.
void bind_tensor_data(nb::module_& module);

// The only element, and the tensor in host memory. Both release the GIL while they wait for a device.
Scalar item_of(const Tensor& tensor);
Tensor on_host(const Tensor& tensor);

PyObject* to_number(const Scalar& scalar);

}  // namespace mindtorch::python
