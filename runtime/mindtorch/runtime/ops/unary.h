// Functions of one element.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

MINDTORCH_EXPORT Tensor abs(const Tensor& self);
MINDTORCH_EXPORT Tensor sign(const Tensor& self);
MINDTORCH_EXPORT Tensor relu(const Tensor& self);
MINDTORCH_EXPORT Tensor floor(const Tensor& self);
MINDTORCH_EXPORT Tensor ceil(const Tensor& self);
MINDTORCH_EXPORT Tensor round(const Tensor& self);  // halves to even
MINDTORCH_EXPORT Tensor trunc(const Tensor& self);
MINDTORCH_EXPORT Tensor logical_not(const Tensor& self);
MINDTORCH_EXPORT Tensor isnan(const Tensor& self);
MINDTORCH_EXPORT Tensor isinf(const Tensor& self);
MINDTORCH_EXPORT Tensor isfinite(const Tensor& self);

// Integers become floating point.
MINDTORCH_EXPORT Tensor exp(const Tensor& self);
MINDTORCH_EXPORT Tensor expm1(const Tensor& self);
MINDTORCH_EXPORT Tensor log(const Tensor& self);
MINDTORCH_EXPORT Tensor log1p(const Tensor& self);
MINDTORCH_EXPORT Tensor log2(const Tensor& self);
MINDTORCH_EXPORT Tensor sqrt(const Tensor& self);
MINDTORCH_EXPORT Tensor rsqrt(const Tensor& self);
MINDTORCH_EXPORT Tensor sin(const Tensor& self);
MINDTORCH_EXPORT Tensor cos(const Tensor& self);
MINDTORCH_EXPORT Tensor tanh(const Tensor& self);
MINDTORCH_EXPORT Tensor sigmoid(const Tensor& self);
MINDTORCH_EXPORT Tensor erf(const Tensor& self);
MINDTORCH_EXPORT Tensor square(const Tensor& self);

}  // namespace mindtorch
