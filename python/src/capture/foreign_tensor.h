// Reads the properties of a foreign framework's tensors and devices. All functions need the GIL, may run Python code, and raise nothing.
#pragma once

#include <Python.h>

#include <cstdint>
#include <vector>

#include "mindtorch/record/hooks.h"
#include "mindtorch/trace/event.h"
#include "mindtorch/trace/tensor_identity.h"

namespace mindtorch::python {

struct ForeignTensor {
  trace::ScalarType dtype = trace::ScalarType::kOther;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;  // in elements; empty if contiguous or not said
};

// Anything with a `shape` that is a sequence; `dtype`, and `stride()` (in elements) or `strides` (in bytes if there is an `itemsize`) are
// looked at too. Sizes that are not numbers yet are -1. False if it is not a tensor.
bool look_at_tensor(PyObject* value, ForeignTensor& tensor);

// Which tensor of torch it is; not identified for anything else.
trace::TensorIdentity identity_of(PyObject* value);

// "npu", "cuda:1", or an object with `type` and `index`. Unknown for None and for devices that have no number here.
record::OpDevice look_at_device(PyObject* device);

}  // namespace mindtorch::python
