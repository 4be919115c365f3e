// Activation functions.
#include "mindtorch/runtime/ops/activation.h"

#include <numbers>
#include <string>

#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/kernels/cpu/activation.h"
#include "mindtorch/runtime/launch.h"
#include "mindtorch/runtime/ops/pointwise_op.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;
using autograd::SavedVariable;
using Text = std::string_view;

constinit Op<Tensor(const Tensor&, Text)> gelu_op{"aten::gelu(Tensor self, *, str approximate='none') -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, Text)> gelu_backward_op{
    "aten::gelu_backward(Tensor grad_output, Tensor self, *, str approximate='none') -> Tensor"};
constinit Op<Tensor(const Tensor&)> silu_op{"aten::silu(Tensor self) -> Tensor"};
constinit Op<Tensor(const Tensor&)> silu__op{"aten::silu_(Tensor(a!) self) -> Tensor(a!)"};
constinit Op<Tensor(const Tensor&, const Tensor&)> silu_backward_op{"aten::silu_backward(Tensor grad_output, Tensor self) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Scalar&)> leaky_relu_op{"aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Scalar&)> leaky_relu__op{
    "aten::leaky_relu_(Tensor(a!) self, Scalar negative_slope=0.01) -> Tensor(a!)"};
constinit Op<Tensor(const Tensor&, const Tensor&, const Scalar&, bool)> leaky_relu_backward_op{
    "aten::leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Scalar&, const Scalar&, const Scalar&)> elu_op{
    "aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Scalar&, const Scalar&, const Scalar&)> elu__op{
    "aten::elu_(Tensor(a!) self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor(a!)"};
constinit Op<Tensor(const Tensor&, const Scalar&, const Scalar&, const Scalar&, bool, const Tensor&)> elu_backward_op{
    "aten::elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, Tensor self_or_result) -> "
    "Tensor"};
constinit Op<Tensor(const Tensor&, const Scalar&, const Scalar&)> softplus_op{
    "aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, const Scalar&, const Scalar&)> softplus_backward_op{
    "aten::softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor"};
constinit Op<Tensor(const Tensor&)> log_sigmoid_op{"aten::log_sigmoid(Tensor self) -> Tensor"};
constinit Op<std::tuple<Tensor, Tensor>(const Tensor&)> log_sigmoid_forward_op{
    "aten::log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)"};
constinit Op<Tensor(const Tensor&, const Tensor&, const Tensor&)> log_sigmoid_backward_op{
    "aten::log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor"};

// ---- kernels ----

void check_floating_point(const Tensor& self, const char* op) {
  if (!self.is_floating_point()) throw_error(op, "not implemented for '{}'", scalar_type_title(self.dtype()));
}

// `name` is the op's and, without "aten::", the kernel's.
template <class Kernel, class... Parameters>
Tensor map(const char* name, const Tensor& self, Kernel kernel, const Parameters&... parameters) {
  check_floating_point(self, name);
  Pointwise<1> call(name, {self}, self.dtype(), self.dtype());
  launch(call.device, name + sizeof("aten::") - 1, kernel, call.type, call.plan, parameters...);
  return call.out;
}

template <class Kernel, class... Parameters>
Tensor map_in_place(const char* name, const Tensor& self, Kernel kernel, const Parameters&... parameters) {
  check_floating_point(self, name);
  Pointwise<1> call(name, self, {self}, self.dtype());
  launch(call.device, name + sizeof("aten::") - 1, kernel, call.type, call.plan, parameters...);
  return self;
}

template <class Kernel, class... Parameters>
Tensor map_backward(const char* name, const Tensor& grad, const Tensor& self, Kernel kernel, const Parameters&... parameters) {
  check_floating_point(self, name);
  Pointwise<2> call(name, {grad, self}, self.dtype(), self.dtype());
  launch(call.device, name + sizeof("aten::") - 1, kernel, call.type, call.plan, parameters...);
  return call.out;
}

cpu::Gelu gelu_kind(Text approximate) {
  if (approximate == "none") return cpu::Gelu::kErf;
  if (approximate == "tanh") return cpu::Gelu::kTanh;
  throw_error("aten::gelu", "approximate argument must be either none or tanh, got '{}'", approximate);
}

Tensor gelu_kernel(const Tensor& self, Text approximate) { return map("aten::gelu", self, cpu::gelu, gelu_kind(approximate)); }
Tensor gelu_backward_kernel(const Tensor& grad, const Tensor& self, Text approximate) {
  return map_backward("aten::gelu_backward", grad, self, cpu::gelu_backward, gelu_kind(approximate));
}

Tensor silu_kernel(const Tensor& self) { return map("aten::silu", self, cpu::silu); }
Tensor silu__kernel(const Tensor& self) { return map_in_place("aten::silu_", self, cpu::silu); }
Tensor silu_backward_kernel(const Tensor& grad, const Tensor& self) {
  return map_backward("aten::silu_backward", grad, self, cpu::silu_backward);
}

Tensor leaky_relu_kernel(const Tensor& self, const Scalar& slope) {
  return map("aten::leaky_relu", self, cpu::leaky_relu, slope.to_double());
}
Tensor leaky_relu__kernel(const Tensor& self, const Scalar& slope) {
  return map_in_place("aten::leaky_relu_", self, cpu::leaky_relu, slope.to_double());
}
// The result has the sign of the input if the slope is positive, so that it can stand in for it.
Tensor leaky_relu_backward_kernel(const Tensor& grad, const Tensor& self, const Scalar& slope, bool self_is_result) {
  if (self_is_result && slope.to_double() < 0)
    throw_error("aten::leaky_relu_backward", "the result of a leaky_relu with a negative slope ({}) does not tell its input",
                slope.to_double());
  return map_backward("aten::leaky_relu_backward", grad, self, cpu::leaky_relu_backward, slope.to_double());
}

cpu::Elu elu_shape(const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  return {alpha.to_double(), scale.to_double(), input_scale.to_double()};
}
Tensor elu_kernel(const Tensor& self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  return map("aten::elu", self, cpu::elu, elu_shape(alpha, scale, input_scale));
}
Tensor elu__kernel(const Tensor& self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  return map_in_place("aten::elu_", self, cpu::elu, elu_shape(alpha, scale, input_scale));
}
Tensor elu_backward_kernel(const Tensor& grad, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale, bool is_result,
                           const Tensor& self) {
  return map_backward("aten::elu_backward", grad, self, cpu::elu_backward, elu_shape(alpha, scale, input_scale), is_result);
}

Tensor softplus_kernel(const Tensor& self, const Scalar& beta, const Scalar& threshold) {
  return map("aten::softplus", self, cpu::softplus, cpu::Softplus{beta.to_double(), threshold.to_double()});
}
Tensor softplus_backward_kernel(const Tensor& grad, const Tensor& self, const Scalar& beta, const Scalar& threshold) {
  return map_backward("aten::softplus_backward", grad, self, cpu::softplus_backward,
                      cpu::Softplus{beta.to_double(), threshold.to_double()});
}

Tensor log_sigmoid_composite(const Tensor& self) { return std::get<0>(log_sigmoid_forward_op(self)); }
// torch's CPU keeps exp(-|x|) in the buffer; the backward pass is as quick without it.
std::tuple<Tensor, Tensor> log_sigmoid_forward_kernel(const Tensor& self) {
  return {map("aten::log_sigmoid_forward", self, cpu::log_sigmoid), empty({0}, self.options())};
}
Tensor log_sigmoid_backward_kernel(const Tensor& grad, const Tensor& self, const Tensor&) {
  return map_backward("aten::log_sigmoid_backward", grad, self, cpu::log_sigmoid_backward);
}

// ---- derivatives ----

// gradient(grad, self, parameters...): of functions of one tensor.
template <FixedString name, auto gradient, class... Parameters>
struct ActivationBackward {
  static constexpr std::string_view kName = name.view();
  SavedVariable self;
  std::tuple<Parameters...> parameters;
  template <class... Args>
  ActivationBackward(InputNeeds, const Tensor& x, const Args&... args) : self(x), parameters(args...) {}
  static bool saves_self(InputNeeds) { return true; }
  auto saved() { return std::tie(self); }
  void operator()(Gradients& grads, const Tensor& grad) {
    grads.set(0, std::apply([&](const auto&... p) { return gradient(grad, grads.unpack(self), p...); }, parameters));
  }
};

// Of gradient(g, x, parameters...) = g f'(x): the same with another gradient, and g f''(x); curvature(x, parameters...) is f''.
template <FixedString name, auto gradient, auto curvature, class... Parameters>
struct ActivationBackwardBackward {
  static constexpr std::string_view kName = name.view();
  SavedVariable grad_output, self;
  std::tuple<Parameters...> parameters;
  template <class... Args>
  ActivationBackwardBackward(InputNeeds needs, const Tensor& g, const Tensor& x, const Args&... args)
      : grad_output(needs[1] ? g : Tensor()), self(x), parameters(args...) {}
  auto saved() { return std::tie(grad_output, self); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor x = grads.unpack(self);
    std::apply(
        [&](const auto&... p) {
          if (grads.needs(0)) grads.set(0, gradient(grad, x, p...));
          if (grads.needs(1)) grads.set(1, grad * grads.unpack(grad_output) * curvature(x, p...));
        },
        parameters);
  }
};

Tensor gelu_gradient(const Tensor& grad, const Tensor& x, const std::string& approximate) { return gelu_backward_op(grad, x, approximate); }
Tensor gelu_curvature(const Tensor& x, const std::string& approximate) {
  if (approximate == "none") return (x * x * -0.5).exp() * (2 - x * x) * (std::numbers::inv_sqrtpi / std::numbers::sqrt2);
  constexpr double kScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, kCubic = 0.044715;
  const Tensor square = x * x;
  const Tensor t = (x * (square * kCubic + 1) * kScale).tanh();
  const Tensor slope = (square * (3 * kCubic) + 1) * kScale;
  const Tensor rest = 1 - t * t;
  return rest * slope + x * rest * (x * (3 * kScale * kCubic) - t * slope * slope);
}
using GeluBackward0 = ActivationBackward<"GeluBackward0", gelu_gradient, std::string>;
using GeluBackwardBackward0 = ActivationBackwardBackward<"GeluBackwardBackward0", gelu_gradient, gelu_curvature, std::string>;

Tensor silu_gradient(const Tensor& grad, const Tensor& x) { return silu_backward_op(grad, x); }
Tensor silu_curvature(const Tensor& x) {
  const Tensor s = x.sigmoid();
  return s * (1 - s) * (x * (1 - 2 * s) + 2);
}
using SiluBackward0 = ActivationBackward<"SiluBackward0", silu_gradient>;
using SiluBackwardBackward0 = ActivationBackwardBackward<"SiluBackwardBackward0", silu_gradient, silu_curvature>;

Tensor leaky_relu_gradient(const Tensor& grad, const Tensor& x, const Scalar& slope, bool self_is_result = false) {
  return leaky_relu_backward_op(grad, x, slope, self_is_result);
}
using LeakyReluBackward0 =
    ActivationBackward<"LeakyReluBackward0",
                       [](const Tensor& grad, const Tensor& x, const Scalar& slope) { return leaky_relu_gradient(grad, x, slope); },
                       Scalar>;
using LeakyReluBackwardBackward0 =
    ActivationBackwardBackward<"LeakyReluBackwardBackward0", leaky_relu_gradient,
                               [](const Tensor& x, const Scalar&, bool) { return zeros_like(x); }, Scalar, bool>;

Tensor softplus_gradient(const Tensor& grad, const Tensor& x, const Scalar& beta, const Scalar& threshold) {
  return softplus_backward_op(grad, x, beta, threshold);
}
Tensor softplus_curvature(const Tensor& x, const Scalar& beta, const Scalar& threshold) {
  const Tensor scaled = x * beta, s = scaled.sigmoid();
  return s * (1 - s) * beta * (scaled <= threshold);
}
using SoftplusBackward0 = ActivationBackward<"SoftplusBackward0", softplus_gradient, Scalar, Scalar>;
using SoftplusBackwardBackward0 =
    ActivationBackwardBackward<"SoftplusBackwardBackward0", softplus_gradient, softplus_curvature, Scalar, Scalar>;

// elu can be differentiated from its result too, so its backward op has a signature of its own.
struct EluBackward0 {
  static constexpr std::string_view kName = "EluBackward0";
  SavedVariable self;
  Scalar alpha, scale, input_scale;
  EluBackward0(InputNeeds, const Tensor& x, const Scalar& a, const Scalar& s, const Scalar& i)
      : self(x), alpha(a), scale(s), input_scale(i) {}
  static bool saves_self(InputNeeds) { return true; }
  auto saved() { return std::tie(self); }
  void operator()(Gradients& grads, const Tensor& grad) {
    grads.set(0, elu_backward_op(grad, alpha, scale, input_scale, false, grads.unpack(self)));
  }
};

struct EluBackwardBackward0 {
  static constexpr std::string_view kName = "EluBackwardBackward0";
  SavedVariable grad_output, self;
  Scalar alpha, scale, input_scale;
  bool is_result;
  EluBackwardBackward0(InputNeeds, const Tensor& grad, const Scalar& a, const Scalar& s, const Scalar& i, bool from_result, const Tensor& x)
      : grad_output(grad), self(x), alpha(a), scale(s), input_scale(i), is_result(from_result) {}
  auto saved() { return std::tie(grad_output, self); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor x = grads.unpack(self);
    if (grads.needs(0)) grads.set(0, elu_backward_op(grad, alpha, scale, input_scale, is_result, x));
    if (!grads.needs(1)) return;
    const Tensor product = grad * grads.unpack(grad_output) * input_scale;
    const Tensor curved = is_result ? product : elu_backward_op(product, alpha, scale, input_scale, false, x);
    grads.set(1, curved * (x < 0));
  }
};

struct LogSigmoidBackward0 {
  static constexpr std::string_view kName = "LogSigmoidBackward0";
  static constexpr std::size_t kDifferentiableOutputs = 1;
  SavedVariable self, buffer;
  LogSigmoidBackward0(InputNeeds, const Tensor& x) : self(x) {}
  void save_result(const std::tuple<Tensor, Tensor>& result) { buffer = SavedVariable(std::get<1>(result)); }
  auto saved() { return std::tie(self, buffer); }
  void operator()(Gradients& grads, const TensorVector& inputs) {
    if (inputs[0].defined()) grads.set(0, log_sigmoid_backward_op(inputs[0], grads.unpack(self), grads.unpack(buffer)));
  }
};

struct LogSigmoidBackwardBackward0 {
  static constexpr std::string_view kName = "LogSigmoidBackwardBackward0";
  SavedVariable grad_output, self, buffer;
  LogSigmoidBackwardBackward0(InputNeeds, const Tensor& grad, const Tensor& x, const Tensor& kept)
      : grad_output(grad), self(x), buffer(kept) {}
  auto saved() { return std::tie(grad_output, self, buffer); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor x = grads.unpack(self);
    if (grads.needs(0)) grads.set(0, log_sigmoid_backward_op(grad, x, grads.unpack(buffer)));
    if (!grads.needs(1)) return;
    const Tensor s = x.sigmoid();
    grads.set(1, grad * grads.unpack(grad_output) * (s * (s - 1)));
  }
};

}  // namespace

Tensor gelu(const Tensor& self, std::string_view approximate) { return gelu_op(self, approximate); }
Tensor silu(const Tensor& self) { return silu_op(self); }
Tensor silu_(const Tensor& self) { return silu__op(self); }
Tensor leaky_relu(const Tensor& self, const Scalar& negative_slope) { return leaky_relu_op(self, negative_slope); }
Tensor leaky_relu_(const Tensor& self, const Scalar& negative_slope) { return leaky_relu__op(self, negative_slope); }
Tensor elu(const Tensor& self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  return elu_op(self, alpha, scale, input_scale);
}
Tensor elu_(const Tensor& self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  return elu__op(self, alpha, scale, input_scale);
}
Tensor softplus(const Tensor& self, const Scalar& beta, const Scalar& threshold) { return softplus_op(self, beta, threshold); }
Tensor log_sigmoid(const Tensor& self) { return log_sigmoid_op(self); }

void register_activation_ops(Library& library) {
  library.define<gelu_op>().kernel<gelu_kernel>().autograd<GeluBackward0>();
  library.define<gelu_backward_op>().kernel<gelu_backward_kernel>().autograd<GeluBackwardBackward0>();
  library.define<silu_op>().kernel<silu_kernel>().autograd<SiluBackward0>();
  library.define<silu__op>().kernel<silu__kernel>().autograd<SiluBackward0>();
  library.define<silu_backward_op>().kernel<silu_backward_kernel>().autograd<SiluBackwardBackward0>();
  library.define<leaky_relu_op>().kernel<leaky_relu_kernel>().autograd<LeakyReluBackward0>();
  library.define<leaky_relu__op>().kernel<leaky_relu__kernel>().autograd<LeakyReluBackward0>();
  library.define<leaky_relu_backward_op>().kernel<leaky_relu_backward_kernel>().autograd<LeakyReluBackwardBackward0>();
  library.define<elu_op>().kernel<elu_kernel>().autograd<EluBackward0>();
  library.define<elu__op>().kernel<elu__kernel>().autograd<EluBackward0>();
  library.define<elu_backward_op>().kernel<elu_backward_kernel>().autograd<EluBackwardBackward0>();
  library.define<softplus_op>().kernel<softplus_kernel>().autograd<SoftplusBackward0>();
  library.define<softplus_backward_op>().kernel<softplus_backward_kernel>().autograd<SoftplusBackwardBackward0>();
  library.define<log_sigmoid_op>().composite<log_sigmoid_composite>();
  library.define<log_sigmoid_forward_op>().kernel<log_sigmoid_forward_kernel>().autograd<LogSigmoidBackward0>();
  library.define<log_sigmoid_backward_op>().kernel<log_sigmoid_backward_kernel>().autograd<LogSigmoidBackwardBackward0>();
}

}  // namespace mindtorch
