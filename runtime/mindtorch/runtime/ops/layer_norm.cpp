// Normalisation over the last dimensions.
#include "mindtorch/runtime/ops/layer_norm.h"

#include <limits>

#include "mindtorch/runtime/autograd/grad_mode.h"
#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"
#include "mindtorch/runtime/kernels/cpu/layer_norm.h"
#include "mindtorch/runtime/launch.h"
#include "mindtorch/runtime/ops/norm_gradients.h"
#include "mindtorch/runtime/ops/optional_tensor.h"
#include "mindtorch/runtime/pointwise.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;
using autograd::SavedVariable;
using TwoTensors = std::tuple<Tensor, Tensor>;
using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;

constinit Op<Tensor(const Tensor&, IntArrayRef, const OptionalTensor&, const OptionalTensor&, double, bool)> layer_norm_op{
    "aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool "
    "cudnn_enable=True) -> Tensor"};
constinit Op<ThreeTensors(const Tensor&, IntArrayRef, const OptionalTensor&, const OptionalTensor&, double)> native_layer_norm_op{
    "aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, "
    "Tensor)"};
constinit Op<ThreeTensors(const Tensor&, const Tensor&, IntArrayRef, const Tensor&, const Tensor&, const OptionalTensor&,
                          const OptionalTensor&, std::array<bool, 3>)>
    native_layer_norm_backward_op{
        "aten::native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, Tensor? "
        "weight, "
        "Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"};
constinit Op<Tensor(const Tensor&, IntArrayRef, const OptionalTensor&, std::optional<double>)> rms_norm_op{
    "aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor"};
constinit Op<TwoTensors(const Tensor&, IntArrayRef, const OptionalTensor&, std::optional<double>)> fused_rms_norm_op{
    "aten::_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)"};
constinit Op<TwoTensors(const Tensor&, const Tensor&, IntArrayRef, const Tensor&, const OptionalTensor&, std::array<bool, 2>)>
    fused_rms_norm_backward_op{
        "aten::_fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor rstd, Tensor? weight, bool[2] "
        "output_mask) -> (Tensor, Tensor)"};

// ---- kernels ----

void check_parameter(const OptionalTensor& parameter, const Tensor& input, IntArrayRef normalized_shape, const char* name, const char* op) {
  if (!is_defined(parameter)) return;
  common_device({&input, &*parameter}, op);
  if (parameter->sizes() != normalized_shape)
    throw_error(op, "Expected {} to be of same shape as normalized_shape, but got {} of shape {} and normalized_shape = {}", name, name,
                to_string(parameter->sizes()), to_string(normalized_shape));
  if (parameter->dtype() != input.dtype())
    throw_error(op, "expected scalar type {} but found {} for {}", scalar_type_title(input.dtype()), scalar_type_title(parameter->dtype()),
                name);
}

// The rows of `input`; throws unless its last dimensions are `normalized_shape`.
cpu::RowShape row_shape(const Tensor& input, IntArrayRef normalized_shape, const char* op) {
  const auto count = static_cast<std::int64_t>(normalized_shape.size());
  const IntArrayRef sizes = input.sizes();
  if (count < 1)
    throw_error(
        op, "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got normalized_shape = {}",
        to_string(normalized_shape));
  if (input.dim() < count || IntArrayRef(sizes.end() - count, normalized_shape.size()) != normalized_shape)
    throw_error(op, "Given normalized_shape={}, expected input with shape [*, {}, but got input of size{}", to_string(normalized_shape),
                to_string(normalized_shape).substr(1), to_string(sizes));
  if (!input.is_floating_point()) throw_error(op, "not implemented for '{}'", scalar_type_title(input.dtype()));
  cpu::RowShape shape{input.dtype(), 1, 1};
  for (std::int64_t d = 0; d < input.dim(); ++d) (d < input.dim() - count ? shape.rows : shape.width) *= sizes[d];
  return shape;
}

// Sizes of mean and rstd: those of the input, with 1 in the dimensions that are normalised.
DimVector moment_sizes(const Tensor& input, IntArrayRef normalized_shape) {
  DimVector sizes(input.sizes());
  std::fill(sizes.end() - normalized_shape.size(), sizes.end(), 1);
  return sizes;
}

ThreeTensors native_layer_norm_kernel(const Tensor& input, IntArrayRef normalized_shape, const OptionalTensor& weight,
                                      const OptionalTensor& bias, double eps) {
  constexpr const char* kOp = "aten::native_layer_norm";
  const cpu::RowShape shape = row_shape(input, normalized_shape, kOp);
  check_parameter(weight, input, normalized_shape, "weight", kOp);
  check_parameter(bias, input, normalized_shape, "bias", kOp);
  const Tensor x = input.contiguous(), w = contiguous_or_undefined(weight), b = contiguous_or_undefined(bias);
  const Tensor out = new_tensor(input.sizes(), input.dtype(), input.device());
  const Tensor mean = new_tensor(moment_sizes(input, normalized_shape), input.dtype(), input.device());
  const Tensor rstd = new_tensor(mean.sizes(), input.dtype(), input.device());
  launch(input.device(), "layer_norm", cpu::layer_norm, shape, eps, out.data_ptr(), mean.data_ptr(), rstd.data_ptr(), x.data_ptr(),
         data_or_null(w), data_or_null(b));
  return {out, mean, rstd};
}

ThreeTensors native_layer_norm_backward_kernel(const Tensor& grad, const Tensor& input, IntArrayRef normalized_shape, const Tensor& mean,
                                               const Tensor& rstd, const OptionalTensor& weight, const OptionalTensor&,
                                               std::array<bool, 3> mask) {
  const cpu::RowShape shape = row_shape(input, normalized_shape, "aten::native_layer_norm_backward");
  const Tensor dense_grad = grad.contiguous(), x = input.contiguous(), w = contiguous_or_undefined(weight);
  const auto wanted = [&](bool is_wanted, IntArrayRef sizes) {
    return is_wanted ? new_tensor(sizes, input.dtype(), input.device()) : Tensor();
  };
  const ThreeTensors result{wanted(mask[0], input.sizes()), wanted(mask[1], normalized_shape), wanted(mask[2], normalized_shape)};
  const auto& [grad_in, grad_weight, grad_bias] = result;
  launch(input.device(), "layer_norm_backward", cpu::layer_norm_backward, shape,
         cpu::LayerNormGrads{data_or_null(grad_in), data_or_null(grad_weight), data_or_null(grad_bias)}, dense_grad.data_ptr(),
         x.data_ptr(), mean.data_ptr(), rstd.data_ptr(), data_or_null(w));
  return result;
}

double rms_eps(const Tensor& input, std::optional<double> eps) {
  if (eps) return *eps;
  return input.dtype() == kFloat64 ? std::numeric_limits<double>::epsilon() : static_cast<double>(std::numeric_limits<float>::epsilon());
}

void* no_mean() { return nullptr; }

TwoTensors fused_rms_norm_kernel(const Tensor& input, IntArrayRef normalized_shape, const OptionalTensor& weight,
                                 std::optional<double> eps) {
  constexpr const char* kOp = "aten::_fused_rms_norm";
  const cpu::RowShape shape = row_shape(input, normalized_shape, kOp);
  check_parameter(weight, input, normalized_shape, "weight", kOp);
  const Tensor x = input.contiguous(), w = contiguous_or_undefined(weight);
  const Tensor out = new_tensor(input.sizes(), input.dtype(), input.device());
  const Tensor rstd = new_tensor(moment_sizes(input, normalized_shape), input.dtype(), input.device());
  launch(input.device(), "rms_norm", cpu::layer_norm, shape, rms_eps(input, eps), out.data_ptr(), no_mean(), rstd.data_ptr(), x.data_ptr(),
         data_or_null(w), data_or_null(Tensor()));
  return {out, rstd};
}

TwoTensors fused_rms_norm_backward_kernel(const Tensor& grad, const Tensor& input, IntArrayRef normalized_shape, const Tensor& rstd,
                                          const OptionalTensor& weight, std::array<bool, 2> mask) {
  const cpu::RowShape shape = row_shape(input, normalized_shape, "aten::_fused_rms_norm_backward");
  const Tensor dense_grad = grad.contiguous(), x = input.contiguous(), w = contiguous_or_undefined(weight);
  const Tensor grad_in = mask[0] ? new_tensor(input.sizes(), input.dtype(), input.device()) : Tensor();
  const Tensor grad_weight = mask[1] ? new_tensor(normalized_shape, input.dtype(), input.device()) : Tensor();
  launch(input.device(), "rms_norm_backward", cpu::layer_norm_backward, shape,
         cpu::LayerNormGrads{data_or_null(grad_in), data_or_null(grad_weight), nullptr}, dense_grad.data_ptr(), x.data_ptr(), no_mean(),
         rstd.data_ptr(), data_or_null(w));
  return {grad_in, grad_weight};
}

Tensor layer_norm_composite(const Tensor& input, IntArrayRef normalized_shape, const OptionalTensor& weight, const OptionalTensor& bias,
                            double eps, bool) {
  return std::get<0>(native_layer_norm_op(input, normalized_shape, weight, bias, eps));
}

Tensor rms_norm_composite(const Tensor& input, IntArrayRef normalized_shape, const OptionalTensor& weight, std::optional<double> eps) {
  return std::get<0>(fused_rms_norm_op(input, normalized_shape, weight, eps));
}

// ---- derivatives ----

// The last `count` dimensions, counted from the end.
DimVector last_dims(std::size_t count) {
  DimVector dims;
  for (std::size_t i = 1; i <= count; ++i) dims.push_back(-static_cast<std::int64_t>(i));
  return dims;
}

struct NativeLayerNormBackward0 {
  static constexpr std::string_view kName = "NativeLayerNormBackward0";
  static constexpr std::size_t kDifferentiableOutputs = 1;
  SavedVariable input, weight, mean, rstd;
  DimVector shape;
  double eps;
  NativeLayerNormBackward0(InputNeeds, const Tensor& x, IntArrayRef normalized_shape, const OptionalTensor& w, const OptionalTensor&,
                           double e)
      : input(x), weight(value_or_undefined(w)), shape(normalized_shape), eps(e) {}
  void save_result(const ThreeTensors& result) {
    mean = SavedVariable(std::get<1>(result));
    rstd = SavedVariable(std::get<2>(result));
  }
  auto saved() { return std::tie(input, weight, mean, rstd); }
  void operator()(Gradients& grads, const TensorVector& inputs) {
    const Tensor& grad = inputs[0];
    if (!grad.defined()) return;
    const Tensor x = grads.unpack(input), w = grads.unpack(weight);
    if (GradMode::is_enabled()) {
      const NormGradients gradients = differentiable_norm_gradients(grad, x, w, last_dims(shape.size()), eps);
      if (grads.needs(0)) grads.set(0, gradients.input);
      if (grads.needs(1)) grads.set(1, gradients.weight);
      if (grads.needs(2)) grads.set(2, grad);
      return;
    }
    const auto [of_input, of_weight, of_bias] =
        native_layer_norm_backward_op(grad, x, shape, grads.unpack(mean), grads.unpack(rstd), defined_or_none(w), std::nullopt,
                                      {grads.needs(0), grads.needs(1), grads.needs(2)});
    grads.set(0, of_input);
    grads.set(1, of_weight);
    grads.set(2, of_bias);
  }
};

struct FusedRmsNormBackward0 {
  static constexpr std::string_view kName = "FusedRmsNormBackward0";
  static constexpr std::size_t kDifferentiableOutputs = 1;
  SavedVariable input, weight, rstd;
  DimVector shape;
  double eps;
  FusedRmsNormBackward0(InputNeeds, const Tensor& x, IntArrayRef normalized_shape, const OptionalTensor& w, std::optional<double> e)
      : input(x), weight(value_or_undefined(w)), shape(normalized_shape), eps(rms_eps(x, e)) {}
  void save_result(const TwoTensors& result) { rstd = SavedVariable(std::get<1>(result)); }
  auto saved() { return std::tie(input, weight, rstd); }
  void operator()(Gradients& grads, const TensorVector& inputs) {
    const Tensor& grad = inputs[0];
    if (!grad.defined()) return;
    const Tensor x = grads.unpack(input), w = grads.unpack(weight);
    if (GradMode::is_enabled()) {
      const NormGradients gradients = differentiable_norm_gradients(grad, x, w, last_dims(shape.size()), eps, false);
      if (grads.needs(0)) grads.set(0, gradients.input);
      if (grads.needs(1)) grads.set(1, gradients.weight);
      return;
    }
    const auto [of_input, of_weight] =
        fused_rms_norm_backward_op(grad, x, shape, grads.unpack(rstd), defined_or_none(w), {grads.needs(0), grads.needs(1)});
    grads.set(0, of_input);
    grads.set(1, of_weight);
  }
};

}  // namespace

Tensor layer_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, const Tensor& bias, double eps) {
  return layer_norm_op(input, normalized_shape, defined_or_none(weight), defined_or_none(bias), eps, true);
}
Tensor rms_norm(const Tensor& input, IntArrayRef normalized_shape, const Tensor& weight, std::optional<double> eps) {
  return rms_norm_op(input, normalized_shape, defined_or_none(weight), eps);
}

void register_layer_norm_ops(Library& library) {
  library.define<layer_norm_op>().composite<layer_norm_composite>();
  library.define<native_layer_norm_op>().kernel<native_layer_norm_kernel>().autograd<NativeLayerNormBackward0>();
  library.define<native_layer_norm_backward_op>().kernel<native_layer_norm_backward_kernel>();
  library.define<rms_norm_op>().composite<rms_norm_composite>();
  library.define<fused_rms_norm_op>().kernel<fused_rms_norm_kernel>().autograd<FusedRmsNormBackward0>();
  library.define<fused_rms_norm_backward_op>().kernel<fused_rms_norm_backward_kernel>();
}

}  // namespace mindtorch
