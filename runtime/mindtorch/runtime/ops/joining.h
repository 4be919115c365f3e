// Putting tensors together and taking them apart.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

MINDTORCH_EXPORT Tensor cat(TensorList tensors, std::int64_t dim = 0);
MINDTORCH_EXPORT Tensor stack(TensorList tensors, std::int64_t dim = 0);
// Views of equal size (the last may be smaller), of given sizes, of each position.
MINDTORCH_EXPORT TensorVector split(const Tensor& self, std::int64_t split_size, std::int64_t dim = 0);
MINDTORCH_EXPORT TensorVector split(const Tensor& self, IntArrayRef split_sizes, std::int64_t dim);
MINDTORCH_EXPORT TensorVector chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim = 0);
MINDTORCH_EXPORT TensorVector unbind(const Tensor& self, std::int64_t dim = 0);
MINDTORCH_EXPORT Tensor repeat(const Tensor& self, IntArrayRef repeats);

}  // namespace mindtorch
