// Functions of one element.
#pragma once

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

Tensor abs(const Tensor& self);
Tensor sign(const Tensor& self);
Tensor relu(const Tensor& self);
Tensor floor(const Tensor& self);
Tensor ceil(const Tensor& self);
Tensor round(const Tensor& self);  // halves to even
Tensor trunc(const Tensor& self);
Tensor logical_not(const Tensor& self);
Tensor isnan(const Tensor& self);
Tensor isinf(const Tensor& self);
Tensor isfinite(const Tensor& self);

// Integers become floating point.
Tensor exp(const Tensor& self);
Tensor expm1(const Tensor& self);
Tensor log(const Tensor& self);
Tensor log1p(const Tensor& self);
Tensor log2(const Tensor& self);
Tensor sqrt(const Tensor& self);
Tensor rsqrt(const Tensor& self);
Tensor sin(const Tensor& self);
Tensor cos(const Tensor& self);
Tensor tanh(const Tensor& self);
Tensor sigmoid(const Tensor& self);
Tensor erf(const Tensor& self);
Tensor square(const Tensor& self);

}  // namespace mindtorch
