// Losses of classification: negative log likelihood and cross entropy.
#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"
#include "mindtorch/runtime/kernels/cpu/loss.h"
#include "mindtorch/runtime/launch.h"
#include "mindtorch/runtime/ops/loss.h"
#include "mindtorch/runtime/ops/optional_tensor.h"
#include "mindtorch/runtime/ops/reduction_mode.h"
#include "mindtorch/runtime/pointwise.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;
using autograd::SavedVariable;
using MaybeTensor = const OptionalTensor&;
using TwoTensors = std::tuple<Tensor, Tensor>;

// Scores are [classes] or [batch, classes] for the ops without 2d, [batch, classes, height, width] for those with it.
using NllLoss = Op<Tensor(const Tensor&, const Tensor&, MaybeTensor, std::int64_t, std::int64_t)>;
using NllLossForward = Op<TwoTensors(const Tensor&, const Tensor&, MaybeTensor, std::int64_t, std::int64_t)>;
using NllLossBackward = Op<Tensor(const Tensor&, const Tensor&, const Tensor&, MaybeTensor, std::int64_t, std::int64_t, const Tensor&)>;

constinit NllLoss nll_loss_nd_op{
    "aten::nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100) -> Tensor"};
constinit NllLoss nll_loss_op{
    "aten::nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100) -> Tensor"};
constinit NllLossForward nll_loss_forward_op{
    "aten::nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor output, Tensor "
    "total_weight)"};
constinit NllLossBackward nll_loss_backward_op{
    "aten::nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, Tensor "
    "total_weight) -> Tensor"};
constinit NllLoss nll_loss2d_op{
    "aten::nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100) -> Tensor"};
constinit NllLossForward nll_loss2d_forward_op{
    "aten::nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor output, Tensor "
    "total_weight)"};
constinit NllLossBackward nll_loss2d_backward_op{
    "aten::nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index, Tensor "
    "total_weight) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, MaybeTensor, std::int64_t, std::int64_t, double)> cross_entropy_op{
    "aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, SymInt ignore_index=-100, float "
    "label_smoothing=0.0) -> Tensor"};

// ---- kernels ----

// Checks the arguments; the sizes of scores and targets as the kernel wants them.
cpu::NllShape nll_shape(const Tensor& self, const Tensor& target, MaybeTensor weight, std::int64_t reduction, std::int64_t ignore_index,
                        const char* op) {
  check_reduction(reduction, op);
  common_device({&self, &target}, op);
  if (!self.is_floating_point()) throw_error(op, "not implemented for '{}'", scalar_type_title(self.dtype()));
  if (target.dtype() != kInt64) throw_error(op, "expected scalar type Long but found {}", scalar_type_title(target.dtype()));
  const std::int64_t class_dim = self.dim() == 1 ? 0 : 1;
  DimVector expected(self.sizes());
  expected.erase(static_cast<std::size_t>(class_dim));
  if (target.sizes() != IntArrayRef(expected) && !(self.dim() == 1 && target.numel() == 1))
    throw_error<InvalidArgument>(op, "Expected target size {}, got {}", to_string(expected), to_string(target.sizes()));
  cpu::NllShape shape{self.dtype(),         self.dim() == 1 ? 1 : self.size(0),
                      self.size(class_dim), 1,
                      ignore_index,         static_cast<cpu::NllShape::Reduction>(reduction)};
  for (std::int64_t d = 2; d < self.dim(); ++d) shape.inner *= self.size(d);
  if (is_defined(weight)) {
    common_device({&self, &*weight}, op);
    if (weight->numel() != shape.classes || weight->dtype() != self.dtype())
      throw_error(op, "weight tensor should be defined either for all {} classes or no classes but got weight tensor of shape: {} ({})",
                  shape.classes, to_string(weight->sizes()), dtype_name(weight->dtype()));
  }
  return shape;
}

TwoTensors nll_loss_forward_kernel(const Tensor& self, const Tensor& target, MaybeTensor weight, std::int64_t reduction,
                                   std::int64_t ignore_index) {
  const cpu::NllShape shape = nll_shape(self, target, weight, reduction, ignore_index, "aten::nll_loss");
  const Tensor scores = self.contiguous(), labels = target.contiguous(), w = contiguous_or_undefined(weight);
  const Tensor out = new_tensor(reduction == kReductionNone ? target.sizes() : IntArrayRef(), self.dtype(), self.device());
  const Tensor total_weight = new_tensor({}, self.dtype(), self.device());
  launch(self.device(), "nll_loss", cpu::nll_loss, shape, out.data_ptr(), total_weight.data_ptr(), scores.data_ptr(),
         labels.data_ptr<std::int64_t>(), data_or_null(w));
  return {out, total_weight};
}

Tensor nll_loss_backward_kernel(const Tensor& grad, const Tensor& self, const Tensor& target, MaybeTensor weight, std::int64_t reduction,
                                std::int64_t ignore_index, const Tensor& total_weight) {
  const cpu::NllShape shape = nll_shape(self, target, weight, reduction, ignore_index, "aten::nll_loss_backward");
  const Tensor dense_grad = grad.contiguous(), labels = target.contiguous(), w = contiguous_or_undefined(weight);
  const Tensor grad_in = new_tensor(self.sizes(), self.dtype(), self.device()).zero_();
  launch(self.device(), "nll_loss_backward", cpu::nll_loss_backward, shape, grad_in.data_ptr(), dense_grad.data_ptr(),
         labels.data_ptr<std::int64_t>(), data_or_null(w), total_weight.data_ptr());
  return grad_in;
}

Tensor nll_loss_composite(const Tensor& self, const Tensor& target, MaybeTensor weight, std::int64_t reduction, std::int64_t ignore_index) {
  return std::get<0>(nll_loss_forward_op(self, target, weight, reduction, ignore_index));
}
Tensor nll_loss2d_composite(const Tensor& self, const Tensor& target, MaybeTensor weight, std::int64_t reduction,
                            std::int64_t ignore_index) {
  return std::get<0>(nll_loss2d_forward_op(self, target, weight, reduction, ignore_index));
}

Tensor nll_loss_nd_composite(const Tensor& self, const Tensor& target, MaybeTensor weight, std::int64_t reduction,
                             std::int64_t ignore_index) {
  if (self.dim() < 1) throw_error<InvalidArgument>("aten::nll_loss_nd", "Expected 1 or more dimensions (got {})", self.dim());
  if (self.dim() != 1 && self.size(0) != (target.dim() == 0 ? 1 : target.size(0)))
    throw_error<InvalidArgument>("aten::nll_loss_nd", "Expected input batch_size ({}) to match target batch_size ({}).", self.size(0),
                                 target.dim() == 0 ? 1 : target.size(0));
  if (self.dim() <= 2) return nll_loss_op(self, target, weight, reduction, ignore_index);
  if (self.dim() == 4) return nll_loss2d_op(self, target, weight, reduction, ignore_index);
  nll_shape(self, target, weight, reduction, ignore_index, "aten::nll_loss_nd");
  const std::int64_t inner = target.size(0) == 0 ? 0 : target.numel() / target.size(0);
  const Tensor losses = nll_loss2d_op(self.reshape({self.size(0), self.size(1), 1, inner}), target.reshape({target.size(0), 1, inner}),
                                      weight, reduction, ignore_index);
  return reduction == kReductionNone ? losses.reshape(target.sizes()) : losses;
}

// `weight` in the place of the classes of `scores`.
Tensor along_classes(const Tensor& weight, const Tensor& scores, std::int64_t class_dim) {
  DimVector sizes(static_cast<std::size_t>(scores.dim()), 1);
  sizes[static_cast<std::size_t>(class_dim)] = weight.numel();
  return weight.reshape(sizes);
}

Tensor cross_entropy_of_probabilities(const Tensor& self, const Tensor& target, MaybeTensor weight, std::int64_t reduction,
                                      double smoothing) {
  const std::int64_t class_dim = self.dim() == 1 ? 0 : 1, classes = self.size(class_dim);
  if (!target.is_floating_point())
    throw_error("aten::cross_entropy_loss", "Expected floating point type for target with class probabilities, got {}",
                scalar_type_title(target.dtype()));
  const Tensor wanted = smoothing > 0 ? target * (1 - smoothing) + smoothing / static_cast<double>(classes) : target;
  Tensor likelihood = log_softmax(self, class_dim) * wanted;
  if (is_defined(weight)) likelihood = likelihood * along_classes(*weight, self, class_dim);
  if (reduction == kReductionMean) return -(likelihood.sum() / (self.numel() / classes));
  return reduction == kReductionSum ? -likelihood.sum() : -likelihood.sum({class_dim});
}

// A share of `smoothing` goes to all classes alike.
Tensor smoothed_cross_entropy(const Tensor& self, const Tensor& target, MaybeTensor weight, std::int64_t reduction,
                              std::int64_t ignore_index, double smoothing) {
  const std::int64_t class_dim = self.dim() == 1 ? 0 : 1, classes = self.size(class_dim);
  const Tensor scores = log_softmax(self, class_dim);
  const Tensor loss = nll_loss_nd_op(scores, target, weight, reduction, ignore_index);
  const Tensor weighted = is_defined(weight) ? scores * along_classes(*weight, scores, class_dim) : scores;
  const Tensor counts = target.ne(ignore_index);
  Tensor uniform = (-weighted.sum({class_dim})) * counts;
  if (reduction == kReductionMean) {
    const Tensor labels = target * counts;  // class 0 stands in where the target is ignored
    const Tensor total = is_defined(weight) ? (embedding(weight->reshape({-1, 1}), labels).squeeze(-1) * counts).sum() : counts.sum();
    uniform = uniform.sum() / total;
  } else if (reduction == kReductionSum) {
    uniform = uniform.sum();
  }
  return loss * (1 - smoothing) + uniform * (smoothing / static_cast<double>(classes));
}

Tensor cross_entropy_composite(const Tensor& self, const Tensor& target, MaybeTensor weight, std::int64_t reduction,
                               std::int64_t ignore_index, double label_smoothing) {
  if (label_smoothing < 0 || label_smoothing > 1)
    throw_error("aten::cross_entropy_loss", "label_smoothing must be between 0.0 and 1.0. Got: {}", label_smoothing);
  check_reduction(reduction, "aten::cross_entropy_loss");
  if (self.sizes() == target.sizes() && self.dim() > 0) {
    if (ignore_index >= 0) throw_error("aten::cross_entropy_loss", "ignore_index is not supported for floating point target");
    return cross_entropy_of_probabilities(self, target, weight, reduction, label_smoothing);
  }
  if (label_smoothing > 0) return smoothed_cross_entropy(self, target, weight, reduction, ignore_index, label_smoothing);
  return nll_loss_nd_op(log_softmax(self, self.dim() == 1 ? 0 : 1), target, weight, reduction, ignore_index);
}

// ---- derivatives ----

// `Is2d` chooses between the ops of the same work.
template <bool Is2d>
struct NllLossFormula {
  static constexpr std::string_view kName = Is2d ? "NllLoss2DBackward0" : "NllLossBackward0";
  static constexpr std::size_t kDifferentiableOutputs = 1;
  SavedVariable self, target, weight, total_weight;
  std::int64_t reduction, ignore_index;
  NllLossFormula(InputNeeds, const Tensor& x, const Tensor& y, MaybeTensor w, std::int64_t mode, std::int64_t ignored)
      : self(x), target(y), weight(value_or_undefined(w)), reduction(mode), ignore_index(ignored) {}
  void save_result(const TwoTensors& result) { total_weight = SavedVariable(std::get<1>(result)); }
  auto saved() { return std::tie(self, target, weight, total_weight); }
  void operator()(Gradients& grads, const TensorVector& inputs) {
    if (!inputs[0].defined()) return;
    const NllLossBackward& backward = Is2d ? nll_loss2d_backward_op : nll_loss_backward_op;
    grads.set(0, backward(inputs[0], grads.unpack(self), grads.unpack(target), defined_or_none(grads.unpack(weight)), reduction,
                          ignore_index, grads.unpack(total_weight)));
  }
};

// The gradient is linear in grad_output, with the coefficients of the loss itself; it does not depend on the scores.
template <bool Is2d>
struct NllLossBackwardFormula {
  static constexpr std::string_view kName = Is2d ? "NllLoss2DBackwardBackward0" : "NllLossBackwardBackward0";
  SavedVariable self, target, weight;
  std::int64_t reduction, ignore_index;
  NllLossBackwardFormula(InputNeeds, const Tensor&, const Tensor& x, const Tensor& y, MaybeTensor w, std::int64_t mode,
                         std::int64_t ignored, const Tensor&)
      : self(x), target(y), weight(value_or_undefined(w)), reduction(mode), ignore_index(ignored) {}
  auto saved() { return std::tie(self, target, weight); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const NllLoss& loss = Is2d ? nll_loss2d_op : nll_loss_op;
    if (grads.needs(0)) grads.set(0, loss(grad, grads.unpack(target), defined_or_none(grads.unpack(weight)), reduction, ignore_index));
    if (grads.needs(1)) grads.set(1, zeros_like(grads.unpack(self)));
  }
};

}  // namespace

Tensor nll_loss(const Tensor& self, const Tensor& target, const Tensor& weight, Reduction reduction, std::int64_t ignore_index) {
  return nll_loss_nd_op(self, target, defined_or_none(weight), static_cast<std::int64_t>(reduction), ignore_index);
}
Tensor cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight, Reduction reduction, std::int64_t ignore_index,
                     double label_smoothing) {
  return cross_entropy_op(self, target, defined_or_none(weight), static_cast<std::int64_t>(reduction), ignore_index, label_smoothing);
}

void register_nll_loss_ops(Library& library) {
  library.define<nll_loss_nd_op>().composite<nll_loss_nd_composite>();
  library.define<nll_loss_op>().composite<nll_loss_composite>();
  library.define<nll_loss_forward_op>().kernel<nll_loss_forward_kernel>().autograd<NllLossFormula<false>>();
  library.define<nll_loss_backward_op>().kernel<nll_loss_backward_kernel>().autograd<NllLossBackwardFormula<false>>();
  library.define<nll_loss2d_op>().composite<nll_loss2d_composite>();
  library.define<nll_loss2d_forward_op>().kernel<nll_loss_forward_kernel>().autograd<NllLossFormula<true>>();
  library.define<nll_loss2d_backward_op>().kernel<nll_loss_backward_kernel>().autograd<NllLossBackwardFormula<true>>();
  library.define<cross_entropy_op>().composite<cross_entropy_composite>();
}

}  // namespace mindtorch
