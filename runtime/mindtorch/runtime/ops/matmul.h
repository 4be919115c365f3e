// Matrix products.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

MINDTORCH_EXPORT Tensor mm(const Tensor& self, const Tensor& mat2);
MINDTORCH_EXPORT Tensor bmm(const Tensor& self, const Tensor& mat2);
MINDTORCH_EXPORT Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta = 1, const Scalar& alpha = 1);
MINDTORCH_EXPORT Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, const Scalar& beta = 1,
                                const Scalar& alpha = 1);
MINDTORCH_EXPORT Tensor mv(const Tensor& self, const Tensor& vec);
MINDTORCH_EXPORT Tensor dot(const Tensor& self, const Tensor& other);
// Any number of dimensions: vectors are rows or columns as needed, batches are broadcast.
MINDTORCH_EXPORT Tensor matmul(const Tensor& self, const Tensor& other);
// input weight^T + bias
MINDTORCH_EXPORT Tensor linear(const Tensor& input, const Tensor& weight, const OptionalTensor& bias = std::nullopt);

}  // namespace mindtorch
