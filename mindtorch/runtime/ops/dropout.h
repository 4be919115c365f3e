// Dropout.
#pragma once

#include <tuple>

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

// While training, sets elements to 0 with probability p and multiplies the others by 1 / (1 - p); otherwise the input itself. Random
// numbers come from default_generator().
Tensor dropout(const Tensor& input, double p, bool train);

}  // namespace mindtorch
