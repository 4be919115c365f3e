// Putting tensors together and taking them apart.
#pragma once

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

Tensor cat(TensorList tensors, std::int64_t dim = 0);
Tensor stack(TensorList tensors, std::int64_t dim = 0);
// Views of equal size (the last may be smaller), of given sizes, of each position.
TensorVector split(const Tensor& self, std::int64_t split_size, std::int64_t dim = 0);
TensorVector split(const Tensor& self, IntArrayRef split_sizes, std::int64_t dim);
TensorVector chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim = 0);
TensorVector unbind(const Tensor& self, std::int64_t dim = 0);
Tensor repeat(const Tensor& self, IntArrayRef repeats);

}  // namespace mindtorch
