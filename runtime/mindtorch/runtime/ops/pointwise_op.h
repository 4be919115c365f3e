// Building blocks of pointwise ops: kernels made from a name and a loop, derivatives made from a name and an expression.
#pragma once

#include <algorithm>

#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/launch.h"
#include "mindtorch/runtime/pointwise.h"

namespace mindtorch {

// A string as a template argument.
template <std::size_t N>
struct FixedString {
  constexpr FixedString(const char (&literal)[N]) { std::copy_n(literal, N, text); }
  constexpr std::string_view view() const { return {text, N - 1}; }
  char text[N];
};

// Throws if a result of `type` cannot be stored in `self`.
inline void check_in_place_type(ScalarType type, const Tensor& self, std::string_view op) {
  if (!can_cast(type, self.dtype()))
    throw_error(op, "result type {} can't be cast to the desired output type {}", scalar_type_title(type), scalar_type_title(self.dtype()));
}

inline void refuse_bool(ScalarType type, std::string_view op) {
  if (type == kBool) throw_error(op, "not implemented for 'Bool'");
}

inline void need_floating(ScalarType type, std::string_view op) {
  if (!is_floating_point(type)) throw_error(op, "not implemented for '{}'", scalar_type_title(type));
}

// The name of a kernel on the timeline of the device: "aten::exp" without the namespace.
template <FixedString op>
constexpr const char* kernel_name() {
  return op.text + op.view().rfind(':') + 1;
}

// ---- kernels; `op` is "aten::exp", `loop` a function of kernels/cpu ----

// out = f(self), of the type of self.
template <FixedString op, auto loop, bool accepts_bool = false>
Tensor unary_kernel(const Tensor& self) {
  if (!accepts_bool) refuse_bool(self.dtype(), op.view());
  Pointwise<1> call(op.view(), {self}, self.dtype(), self.dtype());
  launch(call.device, kernel_name<op>(), loop, call.type, call.plan);
  return call.out;
}

// out = f(self), in floating point.
template <FixedString op, auto loop>
Tensor floating_unary_kernel(const Tensor& self) {
  const ScalarType type = floating_type(self.dtype());
  Pointwise<1> call(op.view(), {self}, type, type);
  launch(call.device, kernel_name<op>(), loop, type, call.plan);
  return call.out;
}

// self = f(self); with `floating`, self must be of floating point.
template <FixedString op, auto loop, bool floating, bool accepts_bool = false>
Tensor unary_in_place_kernel(const Tensor& self) {
  if (floating) check_in_place_type(floating_type(self.dtype()), self, op.view());
  if (!accepts_bool) refuse_bool(self.dtype(), op.view());
  Pointwise<1> call(op.view(), self, {self}, self.dtype());
  launch(call.device, kernel_name<op>(), loop, call.type, call.plan);
  return self;
}

// out = f(self, other), with torch's promotion; Other is Tensor or Scalar.
template <FixedString op, auto loop, class Other>
Tensor binary_kernel(const Tensor& self, const Other& other) {
  const ScalarType type = result_type(self, other);
  Pointwise<2> call(op.view(), {self, other}, type, type);
  launch(call.device, kernel_name<op>(), loop, type, call.plan);
  return call.out;
}

// self = f(self, other).
template <FixedString op, auto loop, class Other>
Tensor binary_in_place_kernel(const Tensor& self, const Other& other) {
  const ScalarType type = result_type(self, other);
  check_in_place_type(type, self, op.view());
  if (type != self.dtype()) return self.copy_(binary_kernel<op, loop, Other>(self, other));
  Pointwise<2> call(op.view(), self, {self, other}, type);
  launch(call.device, kernel_name<op>(), loop, type, call.plan);
  return self;
}

// out = f(self, other) as bool.
template <FixedString op, auto loop, class Other>
Tensor predicate_kernel(const Tensor& self, const Other& other) {
  const ScalarType type = result_type(self, other);
  Pointwise<2> call(op.view(), {self, other}, type, kBool);
  launch(call.device, kernel_name<op>(), loop, type, call.plan);
  return call.out;
}

// ---- derivatives; `gradient` is a lambda without captures ----

// gradient(grad): of functions whose derivative is a constant.
template <FixedString name, auto gradient>
struct GradientOf {
  static constexpr std::string_view kName = name.view();
  template <class... Args>
  explicit GradientOf(autograd::InputNeeds, const Args&...) {}
  void operator()(autograd::Gradients& grads, const Tensor& grad) { grads.set(0, gradient(grad)); }
};

// gradient(grad, self)
template <FixedString name, auto gradient>
struct GradientOfSelf {
  static constexpr std::string_view kName = name.view();
  autograd::SavedVariable self;
  template <class... Args>
  GradientOfSelf(autograd::InputNeeds, const Tensor& input, const Args&...) : self(input) {}
  static bool saves_self(autograd::InputNeeds) { return true; }
  auto saved() { return std::tie(self); }
  void operator()(autograd::Gradients& grads, const Tensor& grad) { grads.set(0, gradient(grad, grads.unpack(self))); }
};

// gradient(grad, result)
template <FixedString name, auto gradient>
struct GradientOfResult {
  static constexpr std::string_view kName = name.view();
  autograd::SavedVariable result;
  template <class... Args>
  explicit GradientOfResult(autograd::InputNeeds, const Args&...) {}
  void save_result(const Tensor& value) { result = autograd::SavedVariable(value, true); }
  auto saved() { return std::tie(result); }
  void operator()(autograd::Gradients& grads, const Tensor& grad) { grads.set(0, gradient(grad, grads.unpack(result))); }
};

}  // namespace mindtorch
