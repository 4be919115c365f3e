// Views: other shapes and orders of the same memory.
#pragma once

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

Tensor reshape(const Tensor& self, IntArrayRef sizes);  // a view if possible, else a copy
Tensor transpose(const Tensor& self, std::int64_t dim0, std::int64_t dim1);
Tensor permute(const Tensor& self, IntArrayRef dims);
Tensor squeeze(const Tensor& self);
Tensor squeeze(const Tensor& self, std::int64_t dim);
Tensor unsqueeze(const Tensor& self, std::int64_t dim);
Tensor flatten(const Tensor& self, std::int64_t start_dim = 0, std::int64_t end_dim = -1);
// view() of a fresh result that is not used otherwise. It is not tracked as a view.
Tensor unsafe_view(const Tensor& self, IntArrayRef sizes);

// `grad` summed over the dimensions that a tensor of `sizes` was expanded in. Differentiable.
Tensor sum_to(const Tensor& grad, IntArrayRef sizes);

}  // namespace mindtorch
