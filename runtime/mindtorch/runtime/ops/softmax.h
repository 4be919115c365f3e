// softmax and log_softmax.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

MINDTORCH_EXPORT Tensor softmax(const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype = std::nullopt);
// All zeros where all inputs are minus infinity, as in attention when a mask excludes all keys.
MINDTORCH_EXPORT Tensor safe_softmax(const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype = std::nullopt);
MINDTORCH_EXPORT Tensor log_softmax(const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype = std::nullopt);

}  // namespace mindtorch
