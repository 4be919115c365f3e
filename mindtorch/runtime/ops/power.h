// Powers, and the fused updates that optimizers are made of.
#pragma once

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

Tensor pow(const Tensor& self, const Tensor& exponent);
Tensor pow(const Tensor& self, const Scalar& exponent);
Tensor pow(const Scalar& self, const Tensor& exponent);

Tensor addcmul(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value = 1);  // self + value * tensor1 * tensor2
Tensor addcdiv(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
               const Scalar& value = 1);                                   // self + value * tensor1 / tensor2
Tensor lerp(const Tensor& self, const Tensor& end, const Tensor& weight);  // self + weight * (end - self)
Tensor lerp(const Tensor& self, const Tensor& end, const Scalar& weight);

}  // namespace mindtorch
