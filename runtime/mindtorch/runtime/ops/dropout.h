// Dropout.
#pragma once

#include <tuple>

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

// While training, sets elements to 0 with probability p and multiplies the others by 1 / (1 - p); otherwise the input itself. Random
// numbers come from default_generator().
MINDTORCH_EXPORT Tensor dropout(const Tensor& input, double p, bool train);

}  // namespace mindtorch
