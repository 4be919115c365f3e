// Functions of one element.
#include "mindtorch/runtime/ops/unary.h"

#include <limits>
#include <numbers>

#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/kernels/cpu/unary.h"
#include "mindtorch/runtime/ops/pointwise_op.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;
using autograd::SavedVariable;
using Unary = Tensor(const Tensor&);
using Binary = Tensor(const Tensor&, const Tensor&);

constinit Op<Unary> abs_op{"aten::abs(Tensor self) -> Tensor"};
constinit Op<Unary> abs__op{"aten::abs_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Unary> sign_op{"aten::sign(Tensor self) -> Tensor"};
constinit Op<Unary> sign__op{"aten::sign_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Unary> relu_op{"aten::relu(Tensor self) -> Tensor"};
constinit Op<Unary> relu__op{"aten::relu_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Unary> floor_op{"aten::floor(Tensor self) -> Tensor"};
constinit Op<Unary> floor__op{"aten::floor_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Unary> ceil_op{"aten::ceil(Tensor self) -> Tensor"};
constinit Op<Unary> ceil__op{"aten::ceil_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Unary> round_op{"aten::round(Tensor self) -> Tensor"};
constinit Op<Unary> round__op{"aten::round_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Unary> trunc_op{"aten::trunc(Tensor self) -> Tensor"};
constinit Op<Unary> trunc__op{"aten::trunc_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Unary> exp_op{"aten::exp(Tensor self) -> Tensor"};
constinit Op<Unary> exp__op{"aten::exp_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Unary> expm1_op{"aten::expm1(Tensor self) -> Tensor"};
constinit Op<Unary> expm1__op{"aten::expm1_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Unary> log_op{"aten::log(Tensor self) -> Tensor"};
constinit Op<Unary> log__op{"aten::log_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Unary> log1p_op{"aten::log1p(Tensor self) -> Tensor"};
constinit Op<Unary> log1p__op{"aten::log1p_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Unary> log2_op{"aten::log2(Tensor self) -> Tensor"};
constinit Op<Unary> log2__op{"aten::log2_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Unary> sqrt_op{"aten::sqrt(Tensor self) -> Tensor"};
constinit Op<Unary> sqrt__op{"aten::sqrt_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Unary> rsqrt_op{"aten::rsqrt(Tensor self) -> Tensor"};
constinit Op<Unary> rsqrt__op{"aten::rsqrt_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Unary> sin_op{"aten::sin(Tensor self) -> Tensor"};
constinit Op<Unary> sin__op{"aten::sin_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Unary> cos_op{"aten::cos(Tensor self) -> Tensor"};
constinit Op<Unary> cos__op{"aten::cos_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Unary> tanh_op{"aten::tanh(Tensor self) -> Tensor"};
constinit Op<Unary> tanh__op{"aten::tanh_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Unary> sigmoid_op{"aten::sigmoid(Tensor self) -> Tensor"};
constinit Op<Unary> sigmoid__op{"aten::sigmoid_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Unary> erf_op{"aten::erf(Tensor self) -> Tensor"};
constinit Op<Unary> erf__op{"aten::erf_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Unary> logical_not_op{"aten::logical_not(Tensor self) -> Tensor"};
constinit Op<Unary> isnan_op{"aten::isnan(Tensor self) -> Tensor"};
constinit Op<Unary> isinf_op{"aten::isinf(Tensor self) -> Tensor"};
constinit Op<Unary> isfinite_op{"aten::isfinite(Tensor self) -> Tensor"};
constinit Op<Unary> square_op{"aten::square(Tensor self) -> Tensor"};
constinit Op<Binary> tanh_backward_op{"aten::tanh_backward(Tensor grad_output, Tensor output) -> Tensor"};
constinit Op<Binary> sigmoid_backward_op{"aten::sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, const Scalar&)> threshold_backward_op{
    "aten::threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor"};

// ---- kernels ----

Tensor logical_not_kernel(const Tensor& self) {
  Pointwise<1> call("aten::logical_not", {self}, self.dtype(), kBool);
  launch(call.device, "logical_not", cpu::logical_not, call.type, call.plan);
  return call.out;
}

Tensor threshold_backward_kernel(const Tensor& grad, const Tensor& self, const Scalar& threshold) {
  const ScalarType type = result_type(grad, self);
  Pointwise<2> call("aten::threshold_backward", {grad, self}, type, type);
  launch(call.device, "threshold_backward", cpu::threshold_backward, type, call.plan, threshold);
  return call.out;
}

Tensor isnan_composite(const Tensor& self) { return self.ne(self); }
Tensor isinf_composite(const Tensor& self) {
  if (!self.is_floating_point()) return zeros_like(self, {.dtype = kBool});
  return self.abs().eq(std::numeric_limits<double>::infinity());
}
Tensor isfinite_composite(const Tensor& self) {
  if (!self.is_floating_point()) return ones_like(self, {.dtype = kBool});
  return self.eq(self).mul(self.abs().ne(std::numeric_limits<double>::infinity()));
}
Tensor square_composite(const Tensor& self) { return self.pow(2); }

// ---- derivatives ----

constexpr double kTwoBySqrtPi = 2 * std::numbers::inv_sqrtpi;

using AbsBackward0 = GradientOfSelf<"AbsBackward0", [](const Tensor& grad, const Tensor& self) { return grad * self.sign(); }>;
using SignBackward0 = GradientOf<"SignBackward0", [](const Tensor& grad) { return zeros_like(grad); }>;
using FloorBackward0 = GradientOf<"FloorBackward0", [](const Tensor& grad) { return zeros_like(grad); }>;
using CeilBackward0 = GradientOf<"CeilBackward0", [](const Tensor& grad) { return zeros_like(grad); }>;
using RoundBackward0 = GradientOf<"RoundBackward0", [](const Tensor& grad) { return zeros_like(grad); }>;
using TruncBackward0 = GradientOf<"TruncBackward0", [](const Tensor& grad) { return zeros_like(grad); }>;
using ReluBackward0 =
    GradientOfResult<"ReluBackward0", [](const Tensor& grad, const Tensor& result) { return threshold_backward_op(grad, result, 0); }>;
using ExpBackward0 = GradientOfResult<"ExpBackward0", [](const Tensor& grad, const Tensor& result) { return grad * result; }>;
using Expm1Backward0 = GradientOfResult<"Expm1Backward0", [](const Tensor& grad, const Tensor& result) { return grad * (result + 1); }>;
using LogBackward0 = GradientOfSelf<"LogBackward0", [](const Tensor& grad, const Tensor& self) { return grad / self; }>;
using Log1PBackward0 = GradientOfSelf<"Log1PBackward0", [](const Tensor& grad, const Tensor& self) { return grad / (self + 1); }>;
using Log2Backward0 =
    GradientOfSelf<"Log2Backward0", [](const Tensor& grad, const Tensor& self) { return grad / (self * std::numbers::ln2); }>;
using SqrtBackward0 = GradientOfResult<"SqrtBackward0", [](const Tensor& grad, const Tensor& result) { return grad / (2 * result); }>;
using RsqrtBackward0 =
    GradientOfResult<"RsqrtBackward0", [](const Tensor& grad, const Tensor& result) { return -0.5 * grad * result.pow(3); }>;
using SinBackward0 = GradientOfSelf<"SinBackward0", [](const Tensor& grad, const Tensor& self) { return grad * self.cos(); }>;
using CosBackward0 = GradientOfSelf<"CosBackward0", [](const Tensor& grad, const Tensor& self) { return grad * -self.sin(); }>;
using TanhBackward0 =
    GradientOfResult<"TanhBackward0", [](const Tensor& grad, const Tensor& result) { return tanh_backward_op(grad, result); }>;
using SigmoidBackward0 =
    GradientOfResult<"SigmoidBackward0", [](const Tensor& grad, const Tensor& result) { return sigmoid_backward_op(grad, result); }>;
using ErfBackward0 =
    GradientOfSelf<"ErfBackward0", [](const Tensor& grad, const Tensor& self) { return kTwoBySqrtPi * exp(-(self * self)) * grad; }>;

// Of the derivatives: a function of the incoming gradient (linear) and of the result or input.
struct TanhBackwardBackward0 {
  static constexpr std::string_view kName = "TanhBackwardBackward0";
  SavedVariable grad_output, output;
  TanhBackwardBackward0(InputNeeds, const Tensor& grad, const Tensor& y) : grad_output(grad), output(y) {}
  auto saved() { return std::tie(grad_output, output); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor y = grads.unpack(output);
    if (grads.needs(0)) grads.set(0, tanh_backward_op(grad, y));
    if (grads.needs(1)) grads.set(1, grad * (-2 * y * grads.unpack(grad_output)));
  }
};

struct SigmoidBackwardBackward0 {
  static constexpr std::string_view kName = "SigmoidBackwardBackward0";
  SavedVariable grad_output, output;
  SigmoidBackwardBackward0(InputNeeds, const Tensor& grad, const Tensor& y) : grad_output(grad), output(y) {}
  auto saved() { return std::tie(grad_output, output); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor y = grads.unpack(output);
    if (grads.needs(0)) grads.set(0, sigmoid_backward_op(grad, y));
    if (grads.needs(1)) grads.set(1, grad * grads.unpack(grad_output) * (1 - 2 * y));
  }
};

struct ThresholdBackwardBackward0 {
  static constexpr std::string_view kName = "ThresholdBackwardBackward0";
  SavedVariable self;
  Scalar threshold;
  ThresholdBackwardBackward0(InputNeeds, const Tensor&, const Tensor& x, const Scalar& limit) : self(x), threshold(limit) {}
  auto saved() { return std::tie(self); }
  void operator()(Gradients& grads, const Tensor& grad) {
    if (grads.needs(0)) grads.set(0, threshold_backward_op(grad, grads.unpack(self), threshold));
    if (grads.needs(1)) grads.set(1, zeros_like(grad));
  }
};

}  // namespace

Tensor abs(const Tensor& self) { return abs_op(self); }
Tensor sign(const Tensor& self) { return sign_op(self); }
Tensor relu(const Tensor& self) { return relu_op(self); }
Tensor floor(const Tensor& self) { return floor_op(self); }
Tensor ceil(const Tensor& self) { return ceil_op(self); }
Tensor round(const Tensor& self) { return round_op(self); }
Tensor trunc(const Tensor& self) { return trunc_op(self); }
Tensor exp(const Tensor& self) { return exp_op(self); }
Tensor expm1(const Tensor& self) { return expm1_op(self); }
Tensor log(const Tensor& self) { return log_op(self); }
Tensor log1p(const Tensor& self) { return log1p_op(self); }
Tensor log2(const Tensor& self) { return log2_op(self); }
Tensor sqrt(const Tensor& self) { return sqrt_op(self); }
Tensor rsqrt(const Tensor& self) { return rsqrt_op(self); }
Tensor sin(const Tensor& self) { return sin_op(self); }
Tensor cos(const Tensor& self) { return cos_op(self); }
Tensor tanh(const Tensor& self) { return tanh_op(self); }
Tensor sigmoid(const Tensor& self) { return sigmoid_op(self); }
Tensor erf(const Tensor& self) { return erf_op(self); }
Tensor logical_not(const Tensor& self) { return logical_not_op(self); }
Tensor isnan(const Tensor& self) { return isnan_op(self); }
Tensor isinf(const Tensor& self) { return isinf_op(self); }
Tensor isfinite(const Tensor& self) { return isfinite_op(self); }
Tensor square(const Tensor& self) { return square_op(self); }

Tensor Tensor::abs() const { return abs_op(*this); }
Tensor Tensor::abs_() const { return abs__op(*this); }
Tensor Tensor::sign() const { return sign_op(*this); }
Tensor Tensor::sign_() const { return sign__op(*this); }
Tensor Tensor::relu() const { return relu_op(*this); }
Tensor Tensor::relu_() const { return relu__op(*this); }
Tensor Tensor::floor() const { return floor_op(*this); }
Tensor Tensor::floor_() const { return floor__op(*this); }
Tensor Tensor::ceil() const { return ceil_op(*this); }
Tensor Tensor::ceil_() const { return ceil__op(*this); }
Tensor Tensor::round() const { return round_op(*this); }
Tensor Tensor::round_() const { return round__op(*this); }
Tensor Tensor::trunc() const { return trunc_op(*this); }
Tensor Tensor::trunc_() const { return trunc__op(*this); }
Tensor Tensor::exp() const { return exp_op(*this); }
Tensor Tensor::exp_() const { return exp__op(*this); }
Tensor Tensor::expm1() const { return expm1_op(*this); }
Tensor Tensor::expm1_() const { return expm1__op(*this); }
Tensor Tensor::log() const { return log_op(*this); }
Tensor Tensor::log_() const { return log__op(*this); }
Tensor Tensor::log1p() const { return log1p_op(*this); }
Tensor Tensor::log1p_() const { return log1p__op(*this); }
Tensor Tensor::log2() const { return log2_op(*this); }
Tensor Tensor::log2_() const { return log2__op(*this); }
Tensor Tensor::sqrt() const { return sqrt_op(*this); }
Tensor Tensor::sqrt_() const { return sqrt__op(*this); }
Tensor Tensor::rsqrt() const { return rsqrt_op(*this); }
Tensor Tensor::rsqrt_() const { return rsqrt__op(*this); }
Tensor Tensor::sin() const { return sin_op(*this); }
Tensor Tensor::sin_() const { return sin__op(*this); }
Tensor Tensor::cos() const { return cos_op(*this); }
Tensor Tensor::cos_() const { return cos__op(*this); }
Tensor Tensor::tanh() const { return tanh_op(*this); }
Tensor Tensor::tanh_() const { return tanh__op(*this); }
Tensor Tensor::sigmoid() const { return sigmoid_op(*this); }
Tensor Tensor::sigmoid_() const { return sigmoid__op(*this); }
Tensor Tensor::erf() const { return erf_op(*this); }
Tensor Tensor::erf_() const { return erf__op(*this); }
Tensor Tensor::logical_not() const { return logical_not_op(*this); }
Tensor Tensor::isnan() const { return isnan_op(*this); }
Tensor Tensor::isinf() const { return isinf_op(*this); }
Tensor Tensor::isfinite() const { return isfinite_op(*this); }
Tensor Tensor::square() const { return square_op(*this); }

void register_unary_ops(Library& library) {
  library.define<abs_op>().kernel<unary_kernel<"aten::abs", cpu::abs>>().autograd<AbsBackward0>();
  library.define<abs__op>().kernel<unary_in_place_kernel<"aten::abs_", cpu::abs, false>>().autograd<AbsBackward0>();
  library.define<sign_op>().kernel<unary_kernel<"aten::sign", cpu::sign, true>>().autograd<SignBackward0>();
  library.define<sign__op>().kernel<unary_in_place_kernel<"aten::sign_", cpu::sign, false, true>>().autograd<SignBackward0>();
  library.define<relu_op>().kernel<unary_kernel<"aten::relu", cpu::relu>>().autograd<ReluBackward0>();
  library.define<relu__op>().kernel<unary_in_place_kernel<"aten::relu_", cpu::relu, false>>().autograd<ReluBackward0>();
  library.define<floor_op>().kernel<unary_kernel<"aten::floor", cpu::floor>>().autograd<FloorBackward0>();
  library.define<floor__op>().kernel<unary_in_place_kernel<"aten::floor_", cpu::floor, false>>().autograd<FloorBackward0>();
  library.define<ceil_op>().kernel<unary_kernel<"aten::ceil", cpu::ceil>>().autograd<CeilBackward0>();
  library.define<ceil__op>().kernel<unary_in_place_kernel<"aten::ceil_", cpu::ceil, false>>().autograd<CeilBackward0>();
  library.define<round_op>().kernel<unary_kernel<"aten::round", cpu::round>>().autograd<RoundBackward0>();
  library.define<round__op>().kernel<unary_in_place_kernel<"aten::round_", cpu::round, false>>().autograd<RoundBackward0>();
  library.define<trunc_op>().kernel<unary_kernel<"aten::trunc", cpu::trunc>>().autograd<TruncBackward0>();
  library.define<trunc__op>().kernel<unary_in_place_kernel<"aten::trunc_", cpu::trunc, false>>().autograd<TruncBackward0>();
  library.define<exp_op>().kernel<floating_unary_kernel<"aten::exp", cpu::exp>>().autograd<ExpBackward0>();
  library.define<exp__op>().kernel<unary_in_place_kernel<"aten::exp_", cpu::exp, true>>().autograd<ExpBackward0>();
  library.define<expm1_op>().kernel<floating_unary_kernel<"aten::expm1", cpu::expm1>>().autograd<Expm1Backward0>();
  library.define<expm1__op>().kernel<unary_in_place_kernel<"aten::expm1_", cpu::expm1, true>>().autograd<Expm1Backward0>();
  library.define<log_op>().kernel<floating_unary_kernel<"aten::log", cpu::log>>().autograd<LogBackward0>();
  library.define<log__op>().kernel<unary_in_place_kernel<"aten::log_", cpu::log, true>>().autograd<LogBackward0>();
  library.define<log1p_op>().kernel<floating_unary_kernel<"aten::log1p", cpu::log1p>>().autograd<Log1PBackward0>();
  library.define<log1p__op>().kernel<unary_in_place_kernel<"aten::log1p_", cpu::log1p, true>>().autograd<Log1PBackward0>();
  library.define<log2_op>().kernel<floating_unary_kernel<"aten::log2", cpu::log2>>().autograd<Log2Backward0>();
  library.define<log2__op>().kernel<unary_in_place_kernel<"aten::log2_", cpu::log2, true>>().autograd<Log2Backward0>();
  library.define<sqrt_op>().kernel<floating_unary_kernel<"aten::sqrt", cpu::sqrt>>().autograd<SqrtBackward0>();
  library.define<sqrt__op>().kernel<unary_in_place_kernel<"aten::sqrt_", cpu::sqrt, true>>().autograd<SqrtBackward0>();
  library.define<rsqrt_op>().kernel<floating_unary_kernel<"aten::rsqrt", cpu::rsqrt>>().autograd<RsqrtBackward0>();
  library.define<rsqrt__op>().kernel<unary_in_place_kernel<"aten::rsqrt_", cpu::rsqrt, true>>().autograd<RsqrtBackward0>();
  library.define<sin_op>().kernel<floating_unary_kernel<"aten::sin", cpu::sin>>().autograd<SinBackward0>();
  library.define<sin__op>().kernel<unary_in_place_kernel<"aten::sin_", cpu::sin, true>>().autograd<SinBackward0>();
  library.define<cos_op>().kernel<floating_unary_kernel<"aten::cos", cpu::cos>>().autograd<CosBackward0>();
  library.define<cos__op>().kernel<unary_in_place_kernel<"aten::cos_", cpu::cos, true>>().autograd<CosBackward0>();
  library.define<tanh_op>().kernel<floating_unary_kernel<"aten::tanh", cpu::tanh>>().autograd<TanhBackward0>();
  library.define<tanh__op>().kernel<unary_in_place_kernel<"aten::tanh_", cpu::tanh, true>>().autograd<TanhBackward0>();
  library.define<sigmoid_op>().kernel<floating_unary_kernel<"aten::sigmoid", cpu::sigmoid>>().autograd<SigmoidBackward0>();
  library.define<sigmoid__op>().kernel<unary_in_place_kernel<"aten::sigmoid_", cpu::sigmoid, true>>().autograd<SigmoidBackward0>();
  library.define<erf_op>().kernel<floating_unary_kernel<"aten::erf", cpu::erf>>().autograd<ErfBackward0>();
  library.define<erf__op>().kernel<unary_in_place_kernel<"aten::erf_", cpu::erf, true>>().autograd<ErfBackward0>();
  library.define<logical_not_op>().kernel<logical_not_kernel>().not_differentiable();
  library.define<isnan_op>().composite<isnan_composite>();
  library.define<isinf_op>().composite<isinf_composite>();
  library.define<isfinite_op>().composite<isfinite_composite>();
  library.define<square_op>().composite<square_composite>();
  library.define<tanh_backward_op>()
      .kernel<binary_kernel<"aten::tanh_backward", cpu::tanh_backward, Tensor>>()
      .autograd<TanhBackwardBackward0>();
  library.define<sigmoid_backward_op>()
      .kernel<binary_kernel<"aten::sigmoid_backward", cpu::sigmoid_backward, Tensor>>()
      .autograd<SigmoidBackwardBackward0>();
  library.define<threshold_backward_op>().kernel<threshold_backward_kernel>().autograd<ThresholdBackwardBackward0>();
}

}  // namespace mindtorch
