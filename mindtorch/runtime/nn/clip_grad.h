// Keeping gradients small.
#pragma once

#include "mindtorch/runtime/tensor.h"

namespace mindtorch::nn {

// Scales the gradients of all parameters together so that their norm (the p-norm of order `norm_type`; infinity is the largest element) is
// at most max_norm. Returns the norm they had. Without gradients it is 0. With error_if_nonfinite, throws if it is not a finite number.
Tensor clip_grad_norm_(TensorList parameters, double max_norm, double norm_type = 2, bool error_if_nonfinite = false);

}  // namespace mindtorch::nn
