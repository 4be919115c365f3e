// Copies and conversions: copy_, clone, contiguous, to, detach, and values on the host. Tensor has methods of the same names.
#pragma once

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

Tensor clone(const Tensor& self);
Tensor detach(const Tensor& self);

}  // namespace mindtorch
