// softmax and log_softmax.
#pragma once

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

Tensor softmax(const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype = std::nullopt);
// All zeros where all inputs are minus infinity, as in attention when a mask excludes all keys.
Tensor safe_softmax(const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype = std::nullopt);
Tensor log_softmax(const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype = std::nullopt);

}  // namespace mindtorch
