// Indexing by tensors: x[rows, columns], x[mask]. Made of the runtime's ops, so that it is differentiated and recorded by them.
#pragma once

#include <optional>
#include <vector>

#include "mindtorch/runtime/tensor.h"

namespace mindtorch::python {

// One entry for each leading dimension of the tensor they index; an entry without a tensor takes the whole dimension. Index tensors hold
// integers and live where the indexed tensor lives or on the CPU.
using IndexTensors = std::vector<OptionalTensor>;

// Positions of true elements: one tensor of int64 for each dimension of the mask. Waits for the mask's device.
std::vector<Tensor> positions_of(const Tensor& mask);

// x[indices], as a copy. Throws OutOfRange in torch's words.
Tensor index_get(const Tensor& self, const IndexTensors& indices);
// x[indices] = value, in place; `value` is broadcast to what index_get() would return.
void index_set(const Tensor& self, const IndexTensors& indices, const Tensor& value);

}  // namespace mindtorch::python
