// Whether a number fits into a type.
#include "mindtorch/runtime/scalar_range.h"

#include <cmath>
#include <limits>

namespace mindtorch {

namespace {

template <class T>
bool fits(const Scalar& number) {
  using Limits = std::numeric_limits<T>;
  if (number.is_floating_point()) {
    const double value = number.to_double();
    if constexpr (std::is_floating_point_v<T>) {
      if (!std::isfinite(value)) return true;
    }
    return value >= static_cast<double>(Limits::lowest()) && value <= static_cast<double>(Limits::max());
  }
  const std::int64_t value = number.to_int();
  if constexpr (std::is_same_v<T, std::uint8_t>) return value >= -Limits::max() && value <= Limits::max();
  if constexpr (std::is_same_v<T, std::int32_t>) return value >= Limits::min() && value <= Limits::max();
  return true;
}

}  // namespace

void check_fits(const Scalar& number, ScalarType type, std::string_view op) {
  if (type == kBool || visit_types(type, [&]<class T>() { return fits<T>(number); })) return;
  throw_error(op, "value cannot be converted to type {} without overflow: {}", dtype_name(type), number.to_double());
}

}  // namespace mindtorch
