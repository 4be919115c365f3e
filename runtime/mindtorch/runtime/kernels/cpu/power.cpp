// Kernels of powers and of fused updates.
#include "mindtorch/runtime/kernels/cpu/power.h"

#include <cmath>

#include "mindtorch/runtime/kernels/cpu/loops.h"

namespace mindtorch::cpu {

namespace {

template <class T>
T integer_power(T base, T exponent) {
  if constexpr (std::is_signed_v<T>)
    if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  std::uint64_t result = 1, factor = static_cast<std::uint64_t>(base);
  for (auto rest = static_cast<std::uint64_t>(exponent); rest != 0; rest >>= 1) {
    if ((rest & 1) != 0) result *= factor;
    factor *= factor;
  }
  return static_cast<T>(result);
}

}  // namespace

void pow(ScalarType type, const LoopPlan<3>& plan) {
  visit_types(type, [&]<class T>() {
    map_binary<T, T>(plan, [](T a, T b) {
      if constexpr (std::is_floating_point_v<T>)
        return std::pow(a, b);
      else
        return static_cast<T>(integer_power(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
    });
  });
}

void pow_number(ScalarType type, const LoopPlan<2>& plan, const Scalar& exponent) {
  visit_types(type, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      const double e = exponent.to_double();
      if (e == 2) return map_unary<T, T>(plan, [](T x) { return x * x; });
      if (e == 3) return map_unary<T, T>(plan, [](T x) { return x * x * x; });
      if (e == 1) return map_unary<T, T>(plan, [](T x) { return x; });
      if (e == 0.5) return map_unary<T, T>(plan, [](T x) { return std::sqrt(x); });
      if (e == -0.5) return map_unary<T, T>(plan, [](T x) { return T{1} / std::sqrt(x); });
      if (e == -1) return map_unary<T, T>(plan, [](T x) { return T{1} / x; });
      if (e == -2) return map_unary<T, T>(plan, [](T x) { return T{1} / (x * x); });
      map_unary<T, T>(plan, [p = static_cast<T>(e)](T x) { return std::pow(x, p); });
    } else {
      const std::int64_t e = exponent.to_int();
      map_unary<T, T>(plan, [e](T x) { return static_cast<T>(integer_power(static_cast<std::int64_t>(x), e)); });
    }
  });
}

void addcmul(ScalarType type, const LoopPlan<4>& plan, const Scalar& value) {
  visit_types(type, [&]<class T>() {
    map_ternary<T, T, T, T>(plan, [factor = value.to<T>()](T a, T b, T c) { return static_cast<T>(a + factor * b * c); });
  });
}

void addcdiv(ScalarType type, const LoopPlan<4>& plan, const Scalar& value) {
  visit_floating_types(type, "aten::addcdiv", [&]<class T>() {
    map_ternary<T, T, T, T>(plan, [factor = value.to<T>()](T a, T b, T c) { return a + factor * b / c; });
  });
}

void lerp(ScalarType type, const LoopPlan<4>& plan) {
  visit_floating_types(type, "aten::lerp", [&]<class T>() {
    // From whichever end is nearer, so that weight 1 gives exactly b.
    map_ternary<T, T, T, T>(plan,
                            [](T a, T b, T weight) { return weight < T{0.5} ? a + weight * (b - a) : b - (b - a) * (T{1} - weight); });
  });
}

}  // namespace mindtorch::cpu
