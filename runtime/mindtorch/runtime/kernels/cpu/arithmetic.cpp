// Kernels of addition, subtraction, multiplication, division.
#include "mindtorch/runtime/kernels/cpu/arithmetic.h"

#include "mindtorch/runtime/kernels/cpu/loops.h"

namespace mindtorch::cpu {

namespace {

// Integers wrap around, as torch's do; bool is logical or.
template <class T>
T plus(T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return a || b;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}

template <class T>
T times(T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return a && b;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  else
    return a * b;
}

template <class T>
T negative(T a) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(std::uint64_t{0} - static_cast<std::uint64_t>(a));
  else
    return -a;
}

}  // namespace

void add(ScalarType type, const LoopPlan<3>& plan, const Scalar& alpha) {
  visit_types(type, [&]<class T>() {
    if (alpha.equals(1)) return map_binary<T, T>(plan, [](T a, T b) { return plus(a, b); });
    const T factor = alpha.to<T>();
    map_binary<T, T>(plan, [factor](T a, T b) { return plus(a, times(factor, b)); });
  });
}

void rsub(ScalarType type, const LoopPlan<3>& plan, const Scalar& alpha) {
  visit_types(type, [&]<class T>() {
    const T factor = negative(alpha.to<T>());
    map_binary<T, T>(plan, [factor](T a, T b) { return plus(b, times(factor, a)); });
  });
}

void mul(ScalarType type, const LoopPlan<3>& plan) {
  visit_types(type, [&]<class T>() { map_binary<T, T>(plan, [](T a, T b) { return times(a, b); }); });
}

void div(ScalarType type, const LoopPlan<3>& plan) {
  visit_floating_types(type, "aten::div", [&]<class T>() { map_binary<T, T>(plan, [](T a, T b) { return a / b; }); });
}

void neg(ScalarType type, const LoopPlan<2>& plan) {
  visit_types(type, [&]<class T>() { map_unary<T, T>(plan, [](T a) { return negative(a); }); });
}

void reciprocal(ScalarType type, const LoopPlan<2>& plan) {
  visit_floating_types(type, "aten::reciprocal", [&]<class T>() { map_unary<T, T>(plan, [](T a) { return T{1} / a; }); });
}

}  // namespace mindtorch::cpu
