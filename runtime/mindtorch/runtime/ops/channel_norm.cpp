// Normalisation by channel: batch_norm and group_norm.
#include "mindtorch/runtime/ops/channel_norm.h"

#include "mindtorch/runtime/autograd/grad_mode.h"
#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"
#include "mindtorch/runtime/kernels/cpu/channel_norm.h"
#include "mindtorch/runtime/launch.h"
#include "mindtorch/runtime/ops/norm_gradients.h"
#include "mindtorch/runtime/ops/optional_tensor.h"
#include "mindtorch/runtime/pointwise.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;
using autograd::SavedVariable;
using MaybeTensor = const OptionalTensor&;
using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;
using Mask = std::array<bool, 3>;

constinit Op<Tensor(const Tensor&, MaybeTensor, MaybeTensor, MaybeTensor, MaybeTensor, bool, double, double, bool)> batch_norm_op{
    "aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float "
    "momentum, "
    "float eps, bool cudnn_enabled) -> Tensor"};
constinit Op<std::tuple<Tensor, Tensor, Tensor, Tensor, std::int64_t>(const Tensor&, MaybeTensor, MaybeTensor, MaybeTensor, MaybeTensor,
                                                                      bool, double, double, bool)>
    batch_norm_impl_index_op{
        "aten::_batch_norm_impl_index(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool "
        "training, "
        "float momentum, float eps, bool cudnn_enabled) -> (Tensor, Tensor, Tensor, Tensor, int)"};
constinit Op<ThreeTensors(const Tensor&, MaybeTensor, MaybeTensor, MaybeTensor, MaybeTensor, bool, double, double)> native_batch_norm_op{
    "aten::native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float "
    "momentum, float eps) -> (Tensor, Tensor, Tensor)"};
constinit Op<ThreeTensors(const Tensor&, const Tensor&, MaybeTensor, MaybeTensor, MaybeTensor, MaybeTensor, MaybeTensor, bool, double,
                          Mask)>
    native_batch_norm_backward_op{
        "aten::native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor? running_var, "
        "Tensor? "
        "save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"};
constinit Op<Tensor(const Tensor&, std::int64_t, MaybeTensor, MaybeTensor, double, bool)> group_norm_op{
    "aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enabled=True) -> "
    "Tensor"};
constinit Op<ThreeTensors(const Tensor&, MaybeTensor, MaybeTensor, std::int64_t, std::int64_t, std::int64_t, std::int64_t, double)>
    native_group_norm_op{
        "aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, float eps) -> "
        "(Tensor, "
        "Tensor, Tensor)"};
constinit Op<ThreeTensors(const Tensor&, const Tensor&, const Tensor&, const Tensor&, MaybeTensor, std::int64_t, std::int64_t, std::int64_t,
                          std::int64_t, Mask)>
    native_group_norm_backward_op{
        "aten::native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt N, SymInt C, "
        "SymInt "
        "HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"};

// ---- kernels ----

void check_channels(MaybeTensor parameter, const Tensor& input, const char* name, const char* op) {
  if (!is_defined(parameter)) return;
  common_device({&input, &*parameter}, op);
  if (parameter->dim() != 1 || parameter->size(0) != input.size(1))
    throw_error(op, "{} should contain {} elements not {}", name, input.size(1), parameter->numel());
  if (parameter->dtype() != input.dtype())
    throw_error(op, "expected scalar type {} but found {} for {}", scalar_type_title(input.dtype()), scalar_type_title(parameter->dtype()),
                name);
}

// A tensor as [batch, channels, inner] in contiguous memory. [batch, channels] is turned around to one image of [channels, batch]: the
// kernels walk the innermost dimension.
struct ByChannel {
  explicit ByChannel(const Tensor& tensor) : turned(tensor.dim() == 2) {
    dense = turned ? tensor.t().contiguous() : tensor.contiguous();
    shape = {tensor.dtype(), 1, tensor.size(1), tensor.size(0)};
    if (turned) return;
    shape.batch = tensor.size(0);
    shape.inner = 1;
    for (std::int64_t d = 2; d < tensor.dim(); ++d) shape.inner *= tensor.size(d);
  }
  Tensor like() const { return new_tensor(dense.sizes(), dense.dtype(), dense.device()); }
  Tensor turned_back(const Tensor& result) const { return turned && result.defined() ? result.t().contiguous() : result; }
  Tensor dense;
  bool turned;
  cpu::ChannelShape shape;
};

Tensor new_channels(const Tensor& input, bool is_wanted = true) {
  return is_wanted ? new_tensor({input.size(1)}, input.dtype(), input.device()) : Tensor();
}

void check_batch(const Tensor& input, const char* op) {
  if (input.dim() < 2)
    throw_error(op, "expected an input of at least two dimensions [batch, channels, ...], got {}", to_string(input.sizes()));
  if (!input.is_floating_point()) throw_error(op, "not implemented for '{}'", scalar_type_title(input.dtype()));
}

ThreeTensors native_batch_norm_kernel(const Tensor& input, MaybeTensor weight, MaybeTensor bias, MaybeTensor running_mean,
                                      MaybeTensor running_var, bool training, double momentum, double eps) {
  constexpr const char* kOp = "aten::native_batch_norm";
  check_batch(input, kOp);
  check_channels(running_mean, input, "running_mean", kOp);
  check_channels(running_var, input, "running_var", kOp);
  check_channels(weight, input, "weight", kOp);
  check_channels(bias, input, "bias", kOp);
  const ByChannel x(input);
  const Tensor w = contiguous_or_undefined(weight), b = contiguous_or_undefined(bias), out = x.like();
  const cpu::ChannelAffine affine{data_or_null(w), data_or_null(b)};
  const Tensor old_mean = value_or_undefined(running_mean), old_var = value_or_undefined(running_var);
  if (!training) {
    if (!old_mean.defined() || !old_var.defined()) throw_error(kOp, "running_mean and running_var must be defined in evaluation mode");
    launch(input.device(), "batch_norm_eval", cpu::batch_norm_eval, x.shape, eps, out.data_ptr(), x.dense.data_ptr(), affine,
           old_mean.contiguous().data_ptr(), old_var.contiguous().data_ptr());
    return {x.turned_back(out), empty({0}, input.options()), empty({0}, input.options())};
  }
  for (const Tensor& written : {old_mean, old_var}) {
    if (!written.defined()) continue;
    if (!written.is_contiguous()) throw_error(kOp, "running_mean and running_var must be contiguous");
    autograd::announce_write(written, kOp);  // the schema, which is torch's, does not say so
  }
  const Tensor mean = new_channels(input), rstd = new_channels(input);
  launch(input.device(), "batch_norm", cpu::batch_norm_train, x.shape, eps, out.data_ptr(), mean.data_ptr(), rstd.data_ptr(),
         x.dense.data_ptr(), affine, cpu::RunningMoments{data_or_null(old_mean), data_or_null(old_var), momentum});
  return {x.turned_back(out), mean, rstd};
}

ThreeTensors native_batch_norm_backward_kernel(const Tensor& grad, const Tensor& input, MaybeTensor weight, MaybeTensor running_mean,
                                               MaybeTensor running_var, MaybeTensor save_mean, MaybeTensor save_invstd, bool train,
                                               double eps, Mask mask) {
  const ByChannel x(input), g(grad);
  const Tensor w = contiguous_or_undefined(weight);
  const Tensor grad_in = mask[0] ? x.like() : Tensor();
  const Tensor grad_weight = new_channels(input, mask[1]), grad_bias = new_channels(input, mask[2]);
  const cpu::ChannelNormGrads grads{data_or_null(grad_in), data_or_null(grad_weight), data_or_null(grad_bias)};
  if (train)
    launch(input.device(), "batch_norm_backward", cpu::batch_norm_train_backward, x.shape, grads, g.dense.data_ptr(), x.dense.data_ptr(),
           data_or_null(w), save_mean->data_ptr(), save_invstd->data_ptr());
  else
    launch(input.device(), "batch_norm_eval_backward", cpu::batch_norm_eval_backward, x.shape, eps, grads, g.dense.data_ptr(),
           x.dense.data_ptr(), data_or_null(w), running_mean->contiguous().data_ptr(), running_var->contiguous().data_ptr());
  return {x.turned_back(grad_in), grad_weight, grad_bias};
}

Tensor batch_norm_composite(const Tensor& input, MaybeTensor weight, MaybeTensor bias, MaybeTensor running_mean, MaybeTensor running_var,
                            bool training, double momentum, double eps, bool cudnn_enabled) {
  return std::get<0>(batch_norm_impl_index_op(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled));
}

// The op where torch chooses among libraries: the choice (0: no library) is the last result, what the library wants to keep the one before.
std::tuple<Tensor, Tensor, Tensor, Tensor, std::int64_t> batch_norm_impl_index_composite(const Tensor& input, MaybeTensor weight,
                                                                                         MaybeTensor bias, MaybeTensor running_mean,
                                                                                         MaybeTensor running_var, bool training,
                                                                                         double momentum, double eps, bool) {
  const Tensor reserve = empty({0}, {.dtype = kUint8, .device = input.device()});
  const auto [out, mean, rstd] = native_batch_norm_op(input, weight, bias, running_mean, running_var, training, momentum, eps);
  return {out, mean, rstd, reserve, 0};
}

Tensor group_norm_composite(const Tensor& input, std::int64_t num_groups, MaybeTensor weight, MaybeTensor bias, double eps, bool) {
  constexpr const char* kOp = "aten::group_norm";
  wrap_dim(1, input.dim(), kOp);
  check_batch(input, kOp);
  const std::int64_t batch = input.size(0), channels = input.size(1);
  if (num_groups <= 0 || channels % num_groups != 0)
    throw_error(kOp, "Expected number of channels in input to be divisible by num_groups, but got input of shape {} and num_groups={}",
                to_string(input.sizes()), num_groups);
  check_channels(weight, input, "weight", kOp);
  check_channels(bias, input, "bias", kOp);
  std::int64_t inner = 1;
  for (std::int64_t d = 2; d < input.dim(); ++d) inner *= input.size(d);
  return std::get<0>(native_group_norm_op(input, weight, bias, batch, channels, inner, num_groups, eps));
}

ThreeTensors native_group_norm_kernel(const Tensor& input, MaybeTensor weight, MaybeTensor bias, std::int64_t batch, std::int64_t channels,
                                      std::int64_t inner, std::int64_t groups, double eps) {
  if (batch * channels * inner != input.numel() || channels % groups != 0)
    throw_error("aten::native_group_norm", "input of sizes {} is not [{}, {}, {}] with {} groups", to_string(input.sizes()), batch,
                channels, inner, groups);
  const Tensor x = input.contiguous(), w = contiguous_or_undefined(weight), b = contiguous_or_undefined(bias);
  const Tensor out = new_tensor(input.sizes(), input.dtype(), input.device());
  const Tensor mean = new_tensor({batch, groups}, input.dtype(), input.device()),
               rstd = new_tensor({batch, groups}, input.dtype(), input.device());
  launch(input.device(), "group_norm", cpu::group_norm, cpu::ChannelShape{input.dtype(), batch, channels, inner}, groups, eps,
         out.data_ptr(), mean.data_ptr(), rstd.data_ptr(), x.data_ptr(), cpu::ChannelAffine{data_or_null(w), data_or_null(b)});
  return {out, mean, rstd};
}

ThreeTensors native_group_norm_backward_kernel(const Tensor& grad, const Tensor& input, const Tensor& mean, const Tensor& rstd,
                                               MaybeTensor weight, std::int64_t batch, std::int64_t channels, std::int64_t inner,
                                               std::int64_t groups, Mask mask) {
  const Tensor g = grad.contiguous(), x = input.contiguous(), w = contiguous_or_undefined(weight);
  const Tensor grad_in = mask[0] ? new_tensor(input.sizes(), input.dtype(), input.device()) : Tensor();
  const Tensor grad_weight = new_channels(input, mask[1]), grad_bias = new_channels(input, mask[2]);
  launch(input.device(), "group_norm_backward", cpu::group_norm_backward, cpu::ChannelShape{input.dtype(), batch, channels, inner}, groups,
         cpu::ChannelNormGrads{data_or_null(grad_in), data_or_null(grad_weight), data_or_null(grad_bias)}, g.data_ptr(), x.data_ptr(),
         data_or_null(w), mean.data_ptr(), rstd.data_ptr());
  return {grad_in, grad_weight, grad_bias};
}

// ---- derivatives ----

// All dimensions but the channels'.
DimVector dims_around_channels(std::int64_t count) {
  DimVector dims;
  for (std::int64_t d = 0; d < count; ++d)
    if (d != 1) dims.push_back(d);
  return dims;
}

// A tensor with one element per channel, to be broadcast to a tensor of `dims` dimensions.
Tensor along_channels(const Tensor& parameter, std::int64_t dims) {
  if (!parameter.defined()) return parameter;
  DimVector sizes(static_cast<std::size_t>(dims), 1);
  sizes[1] = -1;
  return parameter.reshape(sizes);
}

struct NativeBatchNormBackward0 {
  static constexpr std::string_view kName = "NativeBatchNormBackward0";
  static constexpr std::size_t kDifferentiableOutputs = 1;
  SavedVariable input, weight, running_mean, running_var, save_mean, save_rstd;
  bool training;
  double eps;
  NativeBatchNormBackward0(InputNeeds, const Tensor& x, MaybeTensor w, MaybeTensor, MaybeTensor mean, MaybeTensor var, bool train, double,
                           double e)
      : input(x),
        weight(value_or_undefined(w)),
        running_mean(train ? Tensor() : value_or_undefined(mean)),
        running_var(train ? Tensor() : value_or_undefined(var)),
        training(train),
        eps(e) {}
  void save_result(const ThreeTensors& result) {
    save_mean = SavedVariable(std::get<1>(result));
    save_rstd = SavedVariable(std::get<2>(result));
  }
  auto saved() { return std::tie(input, weight, running_mean, running_var, save_mean, save_rstd); }
  void operator()(Gradients& grads, const TensorVector& inputs) {
    const Tensor& grad = inputs[0];
    if (!grad.defined()) return;
    if (GradMode::is_enabled()) return differentiable(grads, grad);
    const auto [of_input, of_weight, of_bias] = native_batch_norm_backward_op(
        grad, grads.unpack(input), defined_or_none(grads.unpack(weight)), defined_or_none(grads.unpack(running_mean)),
        defined_or_none(grads.unpack(running_var)), defined_or_none(grads.unpack(save_mean)), defined_or_none(grads.unpack(save_rstd)),
        training, eps, {grads.needs(0), grads.needs(1), grads.needs(2)});
    grads.set(0, of_input);
    grads.set(1, of_weight);
    grads.set(2, of_bias);
  }
  void differentiable(Gradients& grads, const Tensor& grad) const {
    const Tensor x = grads.unpack(input), w = along_channels(grads.unpack(weight), x.dim());
    const DimVector dims = dims_around_channels(x.dim());
    NormGradients gradients;
    if (training) {
      gradients = differentiable_norm_gradients(grad, x, w, dims, eps);
    } else {
      const Tensor rstd = along_channels((grads.unpack(running_var) + eps).rsqrt(), x.dim());
      const Tensor scaled = grad * rstd;
      gradients = {w.defined() ? scaled * w : scaled, scaled * (x - along_channels(grads.unpack(running_mean), x.dim()))};
    }
    if (grads.needs(0)) grads.set(0, gradients.input);
    if (grads.needs(1)) grads.set(1, gradients.weight.sum(dims));
    if (grads.needs(2)) grads.set(2, grad.sum(dims));
  }
};

struct NativeGroupNormBackward0 {
  static constexpr std::string_view kName = "NativeGroupNormBackward0";
  static constexpr std::size_t kDifferentiableOutputs = 1;
  SavedVariable input, weight, mean, rstd;
  std::int64_t batch, channels, inner, groups;
  double eps;
  NativeGroupNormBackward0(InputNeeds, const Tensor& x, MaybeTensor w, MaybeTensor, std::int64_t n, std::int64_t c, std::int64_t s,
                           std::int64_t group, double e)
      : input(x), weight(value_or_undefined(w)), batch(n), channels(c), inner(s), groups(group), eps(e) {}
  void save_result(const ThreeTensors& result) {
    mean = SavedVariable(std::get<1>(result));
    rstd = SavedVariable(std::get<2>(result));
  }
  auto saved() { return std::tie(input, weight, mean, rstd); }
  void operator()(Gradients& grads, const TensorVector& inputs) {
    const Tensor& grad = inputs[0];
    if (!grad.defined()) return;
    if (GradMode::is_enabled()) return differentiable(grads, grad);
    const auto [of_input, of_weight, of_bias] = native_group_norm_backward_op(
        grad, grads.unpack(input), grads.unpack(mean), grads.unpack(rstd), defined_or_none(grads.unpack(weight)), batch, channels, inner,
        groups, {grads.needs(0), grads.needs(1), grads.needs(2)});
    grads.set(0, of_input);
    grads.set(1, of_weight);
    grads.set(2, of_bias);
  }
  void differentiable(Gradients& grads, const Tensor& grad) const {
    const Tensor x = grads.unpack(input), w = grads.unpack(weight);
    const DimVector by_group{batch, groups, channels / groups, inner}, by_channel{batch, channels, inner};
    const Tensor group_weight = w.defined() ? w.reshape({1, groups, channels / groups, 1}) : w;
    const NormGradients gradients = differentiable_norm_gradients(grad.reshape(by_group), x.reshape(by_group), group_weight, {2, 3}, eps);
    if (grads.needs(0)) grads.set(0, gradients.input.reshape(x.sizes()));
    if (grads.needs(1)) grads.set(1, gradients.weight.reshape(by_channel).sum({0, 2}));
    if (grads.needs(2)) grads.set(2, grad.reshape(by_channel).sum({0, 2}));
  }
};

}  // namespace

Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean, const Tensor& running_var,
                  bool training, double momentum, double eps) {
  if (training && input.dim() >= 2 && input.numel() == input.size(1))
    throw_error<InvalidArgument>("aten::batch_norm", "Expected more than 1 value per channel when training, got input size {}",
                                 to_string(input.sizes()));
  return batch_norm_op(input, defined_or_none(weight), defined_or_none(bias), defined_or_none(running_mean), defined_or_none(running_var),
                       training, momentum, eps, false);
}
Tensor group_norm(const Tensor& input, std::int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps) {
  return group_norm_op(input, num_groups, defined_or_none(weight), defined_or_none(bias), eps, false);
}

void register_channel_norm_ops(Library& library) {
  library.define<batch_norm_op>().composite<batch_norm_composite>();
  library.define<batch_norm_impl_index_op>().composite<batch_norm_impl_index_composite>();
  library.define<native_batch_norm_op>().kernel<native_batch_norm_kernel>().autograd<NativeBatchNormBackward0>();
  library.define<native_batch_norm_backward_op>().kernel<native_batch_norm_backward_kernel>();
  library.define<group_norm_op>().composite<group_norm_composite>();
  library.define<native_group_norm_op>().kernel<native_group_norm_kernel>().autograd<NativeGroupNormBackward0>();
  library.define<native_group_norm_backward_op>().kernel<native_group_norm_backward_kernel>();
}

}  // namespace mindtorch
