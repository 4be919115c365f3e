// Matrix products.
#pragma once

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

Tensor mm(const Tensor& self, const Tensor& mat2);
Tensor bmm(const Tensor& self, const Tensor& mat2);
Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1, const Scalar& alpha = 1);
Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1, const Scalar& alpha = 1);
Tensor mv(const Tensor& self, const Tensor& vec);
Tensor dot(const Tensor& self, const Tensor& other);
// Any number of dimensions: vectors are rows or columns as needed, batches are broadcast.
Tensor matmul(const Tensor& self, const Tensor& other);
// input weight^T + bias
Tensor linear(const Tensor& input, const Tensor& weight, const OptionalTensor& bias = std::nullopt);

}  // namespace mindtorch
