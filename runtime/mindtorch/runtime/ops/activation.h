// Activation functions. All of them are for floating point tensors.
#pragma once

#include <string_view>

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

// x times the normal distribution up to x; `approximate` is "none" or "tanh".
MINDTORCH_EXPORT Tensor gelu(const Tensor& self, std::string_view approximate = "none");
MINDTORCH_EXPORT Tensor silu(const Tensor& self);  // x * sigmoid(x)
MINDTORCH_EXPORT Tensor silu_(const Tensor& self);
MINDTORCH_EXPORT Tensor leaky_relu(const Tensor& self, const Scalar& negative_slope = 0.01);
MINDTORCH_EXPORT Tensor leaky_relu_(const Tensor& self, const Scalar& negative_slope = 0.01);
MINDTORCH_EXPORT Tensor elu(const Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1, const Scalar& input_scale = 1);
MINDTORCH_EXPORT Tensor elu_(const Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1, const Scalar& input_scale = 1);
MINDTORCH_EXPORT Tensor softplus(const Tensor& self, const Scalar& beta = 1, const Scalar& threshold = 20);
MINDTORCH_EXPORT Tensor log_sigmoid(const Tensor& self);

}  // namespace mindtorch
