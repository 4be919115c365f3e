// Whether a number fits into a type.
#pragma once

#include <string_view>

#include "mindtorch/runtime/scalar.h"

namespace mindtorch {

// Throws torch's error if elements of `type` cannot hold the number (300 in uint8, NaN in an integer). A negative number may wrap around in
// uint8. Every number fits into bool.
void check_fits(const Scalar& number, ScalarType type, std::string_view op);

}  // namespace mindtorch
