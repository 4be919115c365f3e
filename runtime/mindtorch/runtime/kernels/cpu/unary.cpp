// Kernels of functions of one element.
#include "mindtorch/runtime/kernels/cpu/unary.h"

#include <cmath>

#include "mindtorch/runtime/kernels/cpu/loops.h"
#include "mindtorch/runtime/kernels/cpu/vector_math.h"

namespace mindtorch::cpu {

namespace {

// A function of any type: f.template operator()<T>(T).
template <class F>
void for_all(ScalarType type, const LoopPlan<2>& plan, const F& f) {
  visit_types(type, [&]<class T>() { map_unary<T, T>(plan, [&](T x) { return static_cast<T>(f(x)); }); });
}

// A function of floating point. Kernels of floating point ops are only called with such types: ops convert.
template <class F>
void for_floating(ScalarType type, const LoopPlan<2>& plan, const F& f) {
  if (type == kFloat32)
    map_unary<float, float>(plan, [&](float x) { return f(x); });
  else
    map_unary<double, double>(plan, [&](double x) { return f(x); });
}

template <class T>
constexpr bool kIsReal = std::is_floating_point_v<T>;

}  // namespace

void abs(ScalarType type, const LoopPlan<2>& plan) {
  for_all(type, plan, [](auto x) {
    using T = decltype(x);
    if constexpr (kIsReal<T>)
      return std::abs(x);
    else
      return x < T{0} ? static_cast<T>(-x) : x;
  });
}
void sign(ScalarType type, const LoopPlan<2>& plan) {
  for_all(type, plan, [](auto x) {
    using T = decltype(x);
    return static_cast<T>((x > T{0}) - (x < T{0}));
  });
}
void relu(ScalarType type, const LoopPlan<2>& plan) {
  // NaN is not below zero and passes.
  for_all(type, plan, [](auto x) { return x < decltype(x){0} ? decltype(x){0} : x; });
}
void floor(ScalarType type, const LoopPlan<2>& plan) {
  for_all(type, plan, [](auto x) {
    if constexpr (kIsReal<decltype(x)>)
      return std::floor(x);
    else
      return x;
  });
}
void ceil(ScalarType type, const LoopPlan<2>& plan) {
  for_all(type, plan, [](auto x) {
    if constexpr (kIsReal<decltype(x)>)
      return std::ceil(x);
    else
      return x;
  });
}
void round(ScalarType type, const LoopPlan<2>& plan) {
  for_all(type, plan, [](auto x) {
    if constexpr (kIsReal<decltype(x)>)
      return std::nearbyint(x);
    else
      return x;
  });
}
void trunc(ScalarType type, const LoopPlan<2>& plan) {
  for_all(type, plan, [](auto x) {
    if constexpr (kIsReal<decltype(x)>)
      return std::trunc(x);
    else
      return x;
  });
}
void logical_not(ScalarType type, const LoopPlan<2>& plan) {
  visit_types(type, [&]<class T>() { map_unary<bool, T>(plan, [](T x) { return x == T{0}; }); });
}

void exp(ScalarType type, const LoopPlan<2>& plan) {
  for_floating(type, plan, [](auto x) { return math::exp(x); });
}
void expm1(ScalarType type, const LoopPlan<2>& plan) {
  for_floating(type, plan, [](auto x) { return std::expm1(x); });
}
void log(ScalarType type, const LoopPlan<2>& plan) {
  for_floating(type, plan, [](auto x) { return math::log(x); });
}
void log1p(ScalarType type, const LoopPlan<2>& plan) {
  for_floating(type, plan, [](auto x) { return std::log1p(x); });
}
void log2(ScalarType type, const LoopPlan<2>& plan) {
  for_floating(type, plan, [](auto x) { return std::log2(x); });
}
void sqrt(ScalarType type, const LoopPlan<2>& plan) {
  for_floating(type, plan, [](auto x) { return std::sqrt(x); });
}
void rsqrt(ScalarType type, const LoopPlan<2>& plan) {
  for_floating(type, plan, [](auto x) { return decltype(x){1} / std::sqrt(x); });
}
void sin(ScalarType type, const LoopPlan<2>& plan) {
  for_floating(type, plan, [](auto x) { return std::sin(x); });
}
void cos(ScalarType type, const LoopPlan<2>& plan) {
  for_floating(type, plan, [](auto x) { return std::cos(x); });
}
void tanh(ScalarType type, const LoopPlan<2>& plan) {
  for_floating(type, plan, [](auto x) { return math::tanh(x); });
}
void sigmoid(ScalarType type, const LoopPlan<2>& plan) {
  for_floating(type, plan, [](auto x) { return math::sigmoid(x); });
}
void erf(ScalarType type, const LoopPlan<2>& plan) {
  for_floating(type, plan, [](auto x) { return math::erf(x); });
}

void tanh_backward(ScalarType type, const LoopPlan<3>& plan) {
  visit_floating_types(type, "aten::tanh_backward",
                       [&]<class T>() { map_binary<T, T>(plan, [](T grad, T y) { return grad * (T{1} - y * y); }); });
}
void sigmoid_backward(ScalarType type, const LoopPlan<3>& plan) {
  visit_floating_types(type, "aten::sigmoid_backward",
                       [&]<class T>() { map_binary<T, T>(plan, [](T grad, T y) { return grad * (T{1} - y) * y; }); });
}
void threshold_backward(ScalarType type, const LoopPlan<3>& plan, const Scalar& threshold) {
  visit_types(type, [&]<class T>() {
    const T limit = threshold.to<T>();
    map_binary<T, T>(plan, [limit](T grad, T x) { return x <= limit ? T{0} : grad; });
  });
}

}  // namespace mindtorch::cpu
