// Kernels of activation functions.
#include "mindtorch/runtime/kernels/cpu/activation.h"

#include <numbers>

#include "mindtorch/runtime/kernels/cpu/loops.h"
#include "mindtorch/runtime/kernels/cpu/vector_math.h"

namespace mindtorch::cpu {

namespace {

template <class T>
constexpr T kSqrtHalf = static_cast<T>(std::numbers::sqrt2 / 2);
// gelu with tanh: x / 2 * (1 + tanh(kGeluScale * (x + kGeluCubic * x^3)))
template <class T>
constexpr T kGeluScale = static_cast<T>(std::numbers::sqrt2* std::numbers::inv_sqrtpi);
template <class T>
constexpr T kGeluCubic = static_cast<T>(0.044715);

template <class T>
T gelu_tanh_slope(T x) {
  const T square = x * x;
  const T t = math::tanh(kGeluScale<T> * (x + kGeluCubic<T> * square * x));
  const T inner_slope = kGeluScale<T> * (T{1} + T{3} * kGeluCubic<T> * square);
  return T(0.5) * (T{1} + t) + T(0.5) * x * (T{1} - t * t) * inner_slope;
}

template <class T>
T gelu_erf_slope(T x) {
  constexpr T kDensity = static_cast<T>(std::numbers::inv_sqrtpi / std::numbers::sqrt2);  // of the normal distribution at 0
  return T(0.5) * (T{1} + math::erf(x * kSqrtHalf<T>)) + x * kDensity * math::exp(T(-0.5) * x * x);
}

}  // namespace

void gelu(ScalarType type, const LoopPlan<2>& plan, Gelu kind) {
  visit_floating_types(type, "aten::gelu", [&]<class T>() {
    if (kind == Gelu::kTanh)
      map_unary<T, T>(plan, [](T x) { return T(0.5) * x * (T{1} + math::tanh(kGeluScale<T> * (x + kGeluCubic<T> * x * x * x))); });
    else
      map_unary<T, T>(plan, [](T x) { return T(0.5) * x * (T{1} + math::erf(x * kSqrtHalf<T>)); });
  });
}

void gelu_backward(ScalarType type, const LoopPlan<3>& plan, Gelu kind) {
  visit_floating_types(type, "aten::gelu_backward", [&]<class T>() {
    if (kind == Gelu::kTanh)
      map_binary<T, T>(plan, [](T grad, T x) { return grad * gelu_tanh_slope(x); });
    else
      map_binary<T, T>(plan, [](T grad, T x) { return grad * gelu_erf_slope(x); });
  });
}

void silu(ScalarType type, const LoopPlan<2>& plan) {
  visit_floating_types(type, "aten::silu", [&]<class T>() { map_unary<T, T>(plan, [](T x) { return x * math::sigmoid(x); }); });
}

void silu_backward(ScalarType type, const LoopPlan<3>& plan) {
  visit_floating_types(type, "aten::silu_backward", [&]<class T>() {
    map_binary<T, T>(plan, [](T grad, T x) {
      const T s = math::sigmoid(x);
      return grad * s * (T{1} + x * (T{1} - s));
    });
  });
}

void leaky_relu(ScalarType type, const LoopPlan<2>& plan, double slope) {
  visit_floating_types(type, "aten::leaky_relu", [&]<class T>() {
    map_unary<T, T>(plan, [factor = static_cast<T>(slope)](T x) { return x > T{0} ? x : x * factor; });
  });
}

void leaky_relu_backward(ScalarType type, const LoopPlan<3>& plan, double slope) {
  visit_floating_types(type, "aten::leaky_relu_backward", [&]<class T>() {
    map_binary<T, T>(plan, [factor = static_cast<T>(slope)](T grad, T x) { return x > T{0} ? grad : grad * factor; });
  });
}

void elu(ScalarType type, const LoopPlan<2>& plan, const Elu& shape) {
  visit_floating_types(type, "aten::elu", [&]<class T>() {
    const T positive = static_cast<T>(shape.scale), negative = static_cast<T>(shape.alpha * shape.scale);
    const T inner = static_cast<T>(shape.input_scale);
    map_unary<T, T>(plan, [=](T x) { return x > T{0} ? positive * x : negative * std::expm1(inner * x); });
  });
}

void elu_backward(ScalarType type, const LoopPlan<3>& plan, const Elu& shape, bool from_result) {
  visit_floating_types(type, "aten::elu_backward", [&]<class T>() {
    const T positive = static_cast<T>(shape.scale), negative = static_cast<T>(shape.alpha * shape.scale);
    const T inner = static_cast<T>(shape.input_scale);
    if (from_result)
      map_binary<T, T>(plan, [=](T grad, T y) { return grad * (y > T{0} ? positive : inner * (y + negative)); });
    else
      map_binary<T, T>(plan, [=](T grad, T x) { return grad * (x > T{0} ? positive : inner * negative * math::exp(inner * x)); });
  });
}

void softplus(ScalarType type, const LoopPlan<2>& plan, const Softplus& shape) {
  visit_floating_types(type, "aten::softplus", [&]<class T>() {
    const T beta = static_cast<T>(shape.beta), threshold = static_cast<T>(shape.threshold);
    map_unary<T, T>(plan, [=](T x) { return x * beta > threshold ? x : std::log1p(std::exp(x * beta)) / beta; });
  });
}

void softplus_backward(ScalarType type, const LoopPlan<3>& plan, const Softplus& shape) {
  visit_floating_types(type, "aten::softplus_backward", [&]<class T>() {
    const T beta = static_cast<T>(shape.beta), threshold = static_cast<T>(shape.threshold);
    map_binary<T, T>(plan, [=](T grad, T x) { return x * beta > threshold ? grad : grad * math::sigmoid(x * beta); });
  });
}

void log_sigmoid(ScalarType type, const LoopPlan<2>& plan) {
  visit_floating_types(type, "aten::log_sigmoid", [&]<class T>() {
    map_unary<T, T>(plan, [](T x) { return std::min(x, T{0}) - std::log1p(std::exp(-std::fabs(x))); });
  });
}

void log_sigmoid_backward(ScalarType type, const LoopPlan<3>& plan) {
  visit_floating_types(type, "aten::log_sigmoid_backward",
                       [&]<class T>() { map_binary<T, T>(plan, [](T grad, T x) { return grad * math::sigmoid(-x); }); });
}

}  // namespace mindtorch::cpu
