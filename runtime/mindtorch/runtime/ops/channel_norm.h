// Normalisation by channel (the second dimension): batch_norm and group_norm.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

// Training: with the moments of the batch; running_mean and running_var, if defined, move towards them by `momentum`. Otherwise with the
// running moments. Undefined: no weight, no bias.
MINDTORCH_EXPORT Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                                   const Tensor& running_var, bool training, double momentum = 0.1, double eps = 1e-5);

MINDTORCH_EXPORT Tensor group_norm(const Tensor& input, std::int64_t num_groups, const Tensor& weight = {}, const Tensor& bias = {},
                                   double eps = 1e-5);

}  // namespace mindtorch
