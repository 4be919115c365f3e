// Copies and conversions: copy_, clone, contiguous, to, detach, and values on the host. Their methods on Tensor say the same.
#pragma once

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

Tensor clone(const Tensor& self);
Tensor detach(const Tensor& self);

}  // namespace mindtorch
