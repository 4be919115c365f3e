// Copies and conversions: copy_, clone, contiguous, to, detach, and values on the host. Tensor has methods of the same names.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

MINDTORCH_EXPORT Tensor clone(const Tensor& self);
MINDTORCH_EXPORT Tensor detach(const Tensor& self);

}  // namespace mindtorch
