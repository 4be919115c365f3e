// Views: other shapes and orders of the same memory.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

MINDTORCH_EXPORT Tensor reshape(const Tensor& self, IntArrayRef sizes);  // a view if possible, else a copy
MINDTORCH_EXPORT Tensor transpose(const Tensor& self, std::int64_t dim0, std::int64_t dim1);
MINDTORCH_EXPORT Tensor permute(const Tensor& self, IntArrayRef dims);
MINDTORCH_EXPORT Tensor squeeze(const Tensor& self);
MINDTORCH_EXPORT Tensor squeeze(const Tensor& self, std::int64_t dim);
MINDTORCH_EXPORT Tensor unsqueeze(const Tensor& self, std::int64_t dim);
MINDTORCH_EXPORT Tensor flatten(const Tensor& self, std::int64_t start_dim = 0, std::int64_t end_dim = -1);
// view() of a fresh result that is not used otherwise. It is not tracked as a view.
MINDTORCH_EXPORT Tensor unsafe_view(const Tensor& self, IntArrayRef sizes);

// `grad` summed over the dimensions that a tensor of `sizes` was expanded in. Differentiable.
MINDTORCH_EXPORT Tensor sum_to(const Tensor& grad, IntArrayRef sizes);

}  // namespace mindtorch
