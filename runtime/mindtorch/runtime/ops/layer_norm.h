// Normalisation over the last dimensions.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

// (x - mean) / sqrt(variance + eps) * weight + bias over the dimensions `normalized_shape`, the last ones of `input`. Undefined: no weight,
// no bias.
MINDTORCH_EXPORT Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight = {}, const Tensor& bias = {},
                                   double eps = 1e-5);
// x / sqrt(mean(x^2) + eps) * weight. Without eps, the machine epsilon of the type.
MINDTORCH_EXPORT Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight = {},
                                 std::optional<double> eps = std::nullopt);

}  // namespace mindtorch
