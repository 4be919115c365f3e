// Activation functions. All of them are for floating point tensors.
#pragma once

#include <string_view>

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

// x times the normal distribution up to x; `approximate` is "none" or "tanh".
Tensor gelu(const Tensor& self, std::string_view approximate = "none");
Tensor silu(const Tensor& self);  // x * sigmoid(x)
Tensor silu_(const Tensor& self);
Tensor leaky_relu(const Tensor& self, const Scalar& negative_slope = 0.01);
Tensor leaky_relu_(const Tensor& self, const Scalar& negative_slope = 0.01);
Tensor elu(const Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1, const Scalar& input_scale = 1);
Tensor elu_(const Tensor& self, const Scalar& alpha = 1, const Scalar& scale = 1, const Scalar& input_scale = 1);
Tensor softplus(const Tensor& self, const Scalar& beta = 1, const Scalar& threshold = 20);
Tensor log_sigmoid(const Tensor& self);

}  // namespace mindtorch
