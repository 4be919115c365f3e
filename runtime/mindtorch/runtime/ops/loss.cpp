// Losses that compare element by element.
#include "mindtorch/runtime/ops/loss.h"

#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/kernels/cpu/loss.h"
#include "mindtorch/runtime/launch.h"
#include "mindtorch/runtime/ops/optional_tensor.h"
#include "mindtorch/runtime/ops/reduction_mode.h"
#include "mindtorch/runtime/pointwise.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;
using autograd::SavedVariable;

constinit Op<Tensor(const Tensor&, const Tensor&, std::int64_t)> mse_loss_op{
    "aten::mse_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, const Tensor&, std::int64_t)> mse_loss_backward_op{
    "aten::mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, std::int64_t)> l1_loss_op{
    "aten::l1_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, std::int64_t, double)> smooth_l1_loss_op{
    "aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=Mean, float beta=1.0) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, const Tensor&, std::int64_t, double)> smooth_l1_loss_backward_op{
    "aten::smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, const OptionalTensor&, const OptionalTensor&, std::int64_t)> bce_with_logits_op{
    "aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=Mean) "
    "-> "
    "Tensor"};

// ---- kernels ----

ScalarType loss_type(const Tensor& self, const Tensor& target, const char* op) {
  const ScalarType type = result_type(self, target);
  if (!is_floating_point(type)) throw_error(op, "not implemented for '{}'", scalar_type_title(type));
  return type;
}

// `op` is "aten::" and the name of the kernel.
Tensor distance_loss(const char* op, const Tensor& self, const Tensor& target, std::int64_t reduction, const cpu::DistanceLoss& loss) {
  const ScalarType type = loss_type(self, target, op);
  Pointwise<2> call(op, {self, target}, type, type);
  launch(call.device, op + sizeof("aten::") - 1, cpu::distance_loss, type, call.plan, loss);
  return reduced(call.out, reduction, op);
}

Tensor distance_loss_backward(const char* op, const Tensor& grad, const Tensor& self, const Tensor& target, std::int64_t reduction,
                              const cpu::DistanceLoss& loss) {
  const ScalarType type = loss_type(self, target, op);
  const char* kernel = op + sizeof("aten::") - 1;
  if (reduction == kReductionNone) {
    Pointwise<3> call(op, {grad, self, target}, type, type);
    launch(call.device, kernel, cpu::distance_loss_backward_each, type, call.plan, loss, 1.0);
    return call.out;
  }
  Pointwise<2> call(op, {self, target}, type, type);
  const Tensor factor = grad.to(call.device, type);
  const double share = reduction == kReductionMean ? 1.0 / static_cast<double>(call.plan.numel) : 1.0;
  launch(call.device, kernel, cpu::distance_loss_backward, type, call.plan, loss, share, factor.data_ptr());
  return call.out;
}

constexpr cpu::DistanceLoss kMse{false, 0};

cpu::DistanceLoss smooth_l1(double beta) {
  if (!(beta >= 0)) throw_error("aten::smooth_l1_loss", "smooth_l1_loss does not support negative values for beta, got {}", beta);
  return {true, beta};
}

Tensor mse_loss_kernel(const Tensor& self, const Tensor& target, std::int64_t reduction) {
  return distance_loss("aten::mse_loss", self, target, reduction, kMse);
}
Tensor mse_loss_backward_kernel(const Tensor& grad, const Tensor& self, const Tensor& target, std::int64_t reduction) {
  return distance_loss_backward("aten::mse_loss_backward", grad, self, target, reduction, kMse);
}
Tensor smooth_l1_loss_kernel(const Tensor& self, const Tensor& target, std::int64_t reduction, double beta) {
  return distance_loss("aten::smooth_l1_loss", self, target, reduction, smooth_l1(beta));
}
Tensor smooth_l1_loss_backward_kernel(const Tensor& grad, const Tensor& self, const Tensor& target, std::int64_t reduction, double beta) {
  return distance_loss_backward("aten::smooth_l1_loss_backward", grad, self, target, reduction, smooth_l1(beta));
}

Tensor l1_loss_composite(const Tensor& self, const Tensor& target, std::int64_t reduction) {
  return reduced((self - target).abs(), reduction, "aten::l1_loss");
}

// (1 - y) x - p log(sigmoid(x)), p = 1 + (pos_weight - 1) y, times weight: no exponential overflows.
Tensor bce_with_logits_kernel(const Tensor& self, const Tensor& target, const OptionalTensor& weight, const OptionalTensor& pos_weight,
                              std::int64_t reduction) {
  constexpr const char* kOp = "aten::binary_cross_entropy_with_logits";
  if (self.sizes() != target.sizes())
    throw_error<InvalidArgument>(kOp, "Target size ({}) must be the same as input size ({})", to_string(target.sizes()),
                                 to_string(self.sizes()));
  Tensor log_likelihood = log_sigmoid(self);
  if (is_defined(pos_weight)) log_likelihood = log_likelihood * ((*pos_weight - 1) * target + 1);
  Tensor loss = (1 - target) * self - log_likelihood;
  if (is_defined(weight)) loss = loss * *weight;
  return reduced(loss, reduction, kOp);
}

// ---- derivatives ----

// The factor by which a reduction (mean or sum) scales the gradient of each element.
double share_of(const Tensor& self, const Tensor& target, std::int64_t reduction) {
  if (reduction != kReductionMean) return 1;
  return 1.0 / static_cast<double>(checked_numel(broadcast_shape(self.sizes(), target.sizes(), "aten::mse_loss")));
}

struct MseLossBackward0 {
  static constexpr std::string_view kName = "MseLossBackward0";
  SavedVariable self, target;
  std::int64_t reduction;
  MseLossBackward0(InputNeeds, const Tensor& x, const Tensor& y, std::int64_t mode) : self(x), target(y), reduction(mode) {}
  auto saved() { return std::tie(self, target); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor x = grads.unpack(self), y = grads.unpack(target);
    if (grads.needs(0)) grads.set(0, mse_loss_backward_op(grad, x, y, reduction));
    if (grads.needs(1)) grads.set(1, mse_loss_backward_op(grad, y, x, reduction));
  }
};

// Of 2 (x - y) g / n in g, x and y.
struct MseLossBackwardBackward0 {
  static constexpr std::string_view kName = "MseLossBackwardBackward0";
  SavedVariable grad_output, self, target;
  std::int64_t reduction;
  MseLossBackwardBackward0(InputNeeds, const Tensor& g, const Tensor& x, const Tensor& y, std::int64_t mode)
      : grad_output(g), self(x), target(y), reduction(mode) {}
  auto saved() { return std::tie(grad_output, self, target); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor x = grads.unpack(self), y = grads.unpack(target);
    const Tensor doubled = grad * (2 * share_of(x, y, reduction));
    if (grads.needs(0)) grads.set(0, doubled * add(x, y, -1));  // also of a bool
    if (!grads.needs(1) && !grads.needs(2)) return;
    const Tensor curved = doubled * grads.unpack(grad_output);
    if (grads.needs(1)) grads.set(1, curved);
    if (grads.needs(2)) grads.set(2, -curved);
  }
};

struct SmoothL1LossBackward0 {
  static constexpr std::string_view kName = "SmoothL1LossBackward0";
  SavedVariable self, target;
  std::int64_t reduction;
  double beta;
  SmoothL1LossBackward0(InputNeeds, const Tensor& x, const Tensor& y, std::int64_t mode, double b)
      : self(x), target(y), reduction(mode), beta(b) {}
  auto saved() { return std::tie(self, target); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor x = grads.unpack(self), y = grads.unpack(target);
    if (grads.needs(0)) grads.set(0, smooth_l1_loss_backward_op(grad, x, y, reduction, beta));
    if (grads.needs(1)) grads.set(1, smooth_l1_loss_backward_op(grad, y, x, reduction, beta));
  }
};

struct SmoothL1LossBackwardBackward0 {
  static constexpr std::string_view kName = "SmoothL1LossBackwardBackward0";
  SavedVariable grad_output, self, target;
  std::int64_t reduction;
  double beta;
  SmoothL1LossBackwardBackward0(InputNeeds, const Tensor& g, const Tensor& x, const Tensor& y, std::int64_t mode, double b)
      : grad_output(g), self(x), target(y), reduction(mode), beta(b) {}
  auto saved() { return std::tie(grad_output, self, target); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor x = grads.unpack(self), y = grads.unpack(target);
    if (grads.needs(0))
      grads.set(0, smooth_l1_loss_backward_op(ones_like(grad), x, y, kReductionNone, beta) * grad * share_of(x, y, reduction));
    if (!grads.needs(1) && !grads.needs(2)) return;
    const Tensor g = grads.unpack(grad_output);
    const Tensor curved = beta == 0 ? zeros_like(grad) : grad * g * ((x - y).abs() < beta) * (share_of(x, y, reduction) / beta);
    if (grads.needs(1)) grads.set(1, curved);
    if (grads.needs(2)) grads.set(2, -curved);
  }
};

struct BinaryCrossEntropyWithLogitsBackward0 {
  static constexpr std::string_view kName = "BinaryCrossEntropyWithLogitsBackward0";
  SavedVariable self, target, weight, pos_weight;
  std::int64_t reduction;
  BinaryCrossEntropyWithLogitsBackward0(InputNeeds, const Tensor& x, const Tensor& y, const OptionalTensor& w, const OptionalTensor& p,
                                        std::int64_t mode)
      : self(x), target(y), weight(value_or_undefined(w)), pos_weight(value_or_undefined(p)), reduction(mode) {}
  auto saved() { return std::tie(self, target, weight, pos_weight); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor x = grads.unpack(self), y = grads.unpack(target), w = grads.unpack(weight), p = grads.unpack(pos_weight);
    Tensor each = grad * share_of(x, y, reduction);
    if (w.defined()) each = each * w;
    if (grads.needs(0)) {
      const Tensor s = x.sigmoid(), positive = p.defined() ? p * y : y;
      grads.set(0, (p.defined() ? (positive + (1 - y)) * s - positive : s - y) * each);
    }
    if (grads.needs(1)) grads.set(1, p.defined() ? (log_sigmoid(-x) - p * log_sigmoid(x)) * each : -x * each);
  }
};

}  // namespace

Tensor mse_loss(const Tensor& self, const Tensor& target, Reduction reduction) {
  return mse_loss_op(self, target, static_cast<std::int64_t>(reduction));
}
Tensor l1_loss(const Tensor& self, const Tensor& target, Reduction reduction) {
  return l1_loss_op(self, target, static_cast<std::int64_t>(reduction));
}
Tensor smooth_l1_loss(const Tensor& self, const Tensor& target, Reduction reduction, double beta) {
  return smooth_l1_loss_op(self, target, static_cast<std::int64_t>(reduction), beta);
}
Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target, const Tensor& weight, const Tensor& pos_weight,
                                        Reduction reduction) {
  return bce_with_logits_op(self, target, defined_or_none(weight), defined_or_none(pos_weight), static_cast<std::int64_t>(reduction));
}

void register_loss_ops(Library& library) {
  library.define<mse_loss_op>().kernel<mse_loss_kernel>().autograd<MseLossBackward0>();
  library.define<mse_loss_backward_op>().kernel<mse_loss_backward_kernel>().autograd<MseLossBackwardBackward0>();
  library.define<l1_loss_op>().composite<l1_loss_composite>();
  library.define<smooth_l1_loss_op>().kernel<smooth_l1_loss_kernel>().autograd<SmoothL1LossBackward0>();
  library.define<smooth_l1_loss_backward_op>().kernel<smooth_l1_loss_backward_kernel>().autograd<SmoothL1LossBackwardBackward0>();
  library.define<bce_with_logits_op>().kernel<bce_with_logits_kernel>().autograd<BinaryCrossEntropyWithLogitsBackward0>();
}

}  // namespace mindtorch
