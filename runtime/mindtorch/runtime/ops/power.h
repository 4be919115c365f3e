// Powers, and the fused updates that optimizers are made of.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

MINDTORCH_EXPORT Tensor pow(const Tensor& self, const Tensor& exponent);
MINDTORCH_EXPORT Tensor pow(const Tensor& self, const Scalar& exponent);
MINDTORCH_EXPORT Tensor pow(const Scalar& self, const Tensor& exponent);

MINDTORCH_EXPORT Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                                const Scalar& value = 1);  // self + value * tensor1 * tensor2
MINDTORCH_EXPORT Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                                const Scalar& value = 1);                                   // self + value * tensor1 / tensor2
MINDTORCH_EXPORT Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight);  // self + weight * (end - self)
MINDTORCH_EXPORT Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight);

}  // namespace mindtorch
