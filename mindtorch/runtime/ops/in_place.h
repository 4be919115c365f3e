// Checks of in-place pointwise ops.
#pragma once

#include "mindtorch/runtime/type_promotion.h"

namespace mindtorch {

// Throws if a result of `type` cannot be stored in `self`.
inline void check_in_place_type(ScalarType type, const Tensor& self, std::string_view op) {
  if (!can_cast(type, self.dtype()))
    throw_error(op, "result type {} can't be cast to the desired output type {}", scalar_type_title(type), scalar_type_title(self.dtype()));
}

// The type in which `self op= other` is computed; throws if the result cannot be stored in `self`.
template <class Other>
ScalarType in_place_type(const Tensor& self, const Other& other, std::string_view op) {
  const ScalarType type = result_type(self, other);
  check_in_place_type(type, self, op);
  return type;
}

}  // namespace mindtorch
