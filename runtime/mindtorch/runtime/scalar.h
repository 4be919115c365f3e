// Scalar: a number argument of an op. It keeps its kind: integer, floating point or bool.
#pragma once

#include <concepts>
#include <cstdint>

#include "mindtorch/runtime/scalar_type.h"

namespace mindtorch {

class Scalar {
 public:
  constexpr Scalar() : Scalar(std::int64_t{0}) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) constexpr Scalar(T value) : kind_(Kind::kInteger), integer_(static_cast<std::int64_t>(value)) {}
  template <std::floating_point T>
  constexpr Scalar(T value) : kind_(Kind::kReal), real_(static_cast<double>(value)) {}
  template <std::same_as<bool> T>
  constexpr Scalar(T value) : kind_(Kind::kBoolean), integer_(value ? 1 : 0) {}

  constexpr bool is_floating_point() const { return kind_ == Kind::kReal; }
  constexpr bool is_integral() const { return kind_ == Kind::kInteger; }
  constexpr bool is_boolean() const { return kind_ == Kind::kBoolean; }
  constexpr double to_double() const { return is_floating_point() ? real_ : static_cast<double>(integer_); }
  constexpr std::int64_t to_int() const { return is_floating_point() ? static_cast<std::int64_t>(real_) : integer_; }
  constexpr bool to_bool() const { return is_floating_point() ? real_ != 0 : integer_ != 0; }

  // The number as the C++ type of a kernel. Integers are not converted to floating point, so that no bit of an int64 is lost.
  template <class T>
  constexpr T to() const {
    if constexpr (std::same_as<T, bool>)
      return to_bool();
    else
      return is_floating_point() ? static_cast<T>(real_) : static_cast<T>(integer_);
  }
  // The type of a tensor made from this number: float64, int64 or bool.
  constexpr ScalarType type() const { return kind_ == Kind::kReal ? kFloat64 : kind_ == Kind::kInteger ? kInt64 : kBool; }
  constexpr bool equals(double value) const { return to_double() == value; }

 private:
  enum class Kind : std::uint8_t { kInteger, kReal, kBoolean };
  Kind kind_;
  union {
    std::int64_t integer_;
    double real_;
  };
};

}  // namespace mindtorch
