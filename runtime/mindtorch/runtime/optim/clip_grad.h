// Clips gradients.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch::optim {

// Scales the gradients of all parameters together so that their norm (the p-norm of order `norm_type`; infinity is the largest element) is
// at most max_norm. Returns the norm before scaling, 0 without gradients. With error_if_nonfinite, throws if the norm is not finite.
MINDTORCH_EXPORT Tensor clip_grad_norm_(TensorList parameters, double max_norm, double norm_type = 2, bool error_if_nonfinite = false);

}  // namespace mindtorch::optim
