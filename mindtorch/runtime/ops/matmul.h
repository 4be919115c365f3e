// Matrix products.
#pragma once

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

Tensor mm(const Tensor& self, const Tensor& mat2);
Tensor bmm(const Tensor& self, const Tensor& mat2);
Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1, const Scalar& alpha = 1);

}  // namespace mindtorch
