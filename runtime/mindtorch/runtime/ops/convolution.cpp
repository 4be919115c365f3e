// Convolutions.
#include "mindtorch/runtime/ops/convolution.h"

#include "mindtorch/runtime/autograd/grad_mode.h"
#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"
#include "mindtorch/runtime/kernels/cpu/convolution.h"
#include "mindtorch/runtime/launch.h"
#include "mindtorch/runtime/ops/optional_tensor.h"
#include "mindtorch/runtime/ops/window.h"
#include "mindtorch/runtime/pointwise.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;
using autograd::SavedVariable;
using MaybeTensor = const OptionalTensor&;
using ThreeTensors = std::tuple<Tensor, Tensor, Tensor>;

using ConvNd = Op<Tensor(const Tensor&, const Tensor&, MaybeTensor, IntArrayRef, IntArrayRef, IntArrayRef, std::int64_t)>;
constinit ConvNd conv1d_op{
    "aten::conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=1, SymInt[1] padding=0, SymInt[1] dilation=1, SymInt "
    "groups=1) -> Tensor"};
constinit ConvNd conv2d_op{
    "aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=1, SymInt[2] padding=0, SymInt[2] dilation=1, SymInt "
    "groups=1) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, MaybeTensor, IntArrayRef, IntArrayRef, IntArrayRef, bool, IntArrayRef, std::int64_t)>
    convolution_op{
        "aten::convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool "
        "transposed, "
        "SymInt[] output_padding, SymInt groups) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, MaybeTensor, IntArrayRef, IntArrayRef, IntArrayRef, bool, IntArrayRef, std::int64_t, bool,
                    bool, bool, bool)>
    inner_convolution_op{
        "aten::_convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool "
        "transposed, "
        "SymInt[] output_padding, SymInt groups, bool benchmark, bool deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor"};
constinit Op<ThreeTensors(const Tensor&, const Tensor&, const Tensor&, std::optional<IntArrayRef>, IntArrayRef, IntArrayRef, IntArrayRef,
                          bool, IntArrayRef, std::int64_t, std::array<bool, 3>)>
    convolution_backward_op{
        "aten::convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] stride, SymInt[] "
        "padding, "
        "SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"};

// ---- shapes ----

void check_convolution(const Tensor& input, const Tensor& weight, MaybeTensor bias, bool transposed, std::int64_t groups, const char* op) {
  if (transposed) throw_error(op, "transposed convolution is not implemented");
  if (groups <= 0) throw_error(op, "non-positive groups is not supported, got {}", groups);
  if (!input.is_floating_point()) throw_error(op, "not implemented for '{}'", scalar_type_title(input.dtype()));
  if (weight.dim() != input.dim() || (weight.dim() != 3 && weight.dim() != 4))
    throw_error(op, "Expected {}-dimensional input for {}-dimensional weight {}, but got {}-dimensional input of size {} instead",
                weight.dim(), weight.dim(), to_string(weight.sizes()), input.dim(), to_string(input.sizes()));
  if (weight.size(0) % groups != 0)
    throw_error(op, "Given groups={}, expected weight to be divisible by {} at dimension 0, but got weight of size {} instead", groups,
                groups, to_string(weight.sizes()));
  if (input.size(1) != weight.size(1) * groups)
    throw_error(op, "Given groups={}, weight of size {}, expected input{} to have {} channels, but got {} channels instead", groups,
                to_string(weight.sizes()), to_string(input.sizes()), weight.size(1) * groups, input.size(1));
  common_device({&input, &weight}, op);
  if (weight.dtype() != input.dtype())
    throw_error(op, "Input type ({}) and weight type ({}) should be the same", dtype_name(input.dtype()), dtype_name(weight.dtype()));
  if (!is_defined(bias)) return;
  common_device({&input, &*bias}, op);
  if (bias->dtype() != input.dtype())
    throw_error(op, "Input type ({}) and bias type ({}) should be the same", dtype_name(input.dtype()), dtype_name(bias->dtype()));
  if (bias->dim() != 1 || bias->size(0) != weight.size(0))
    throw_error(op, "Given weight of size {}, expected bias to be 1-dimensional with {} elements, but got bias of size {} instead",
                to_string(weight.sizes()), weight.size(0), to_string(bias->sizes()));
}

// Sizes for the two-dimensional kernels: a signal is an image of height 1.
struct Geometry {
  Geometry(const Tensor& input, const Tensor& weight, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, std::int64_t groups,
           const char* op) {
    const bool flat = weight.dim() == 3;
    const auto pair = [&](IntArrayRef values, const char* name, std::int64_t of_height) {
      return flat ? Pair(of_height, Pair(values, name, op).w) : Pair(values, name, op);
    };
    const Pair in(flat ? 1 : input.size(2), input.size(-1)), kernel(flat ? 1 : weight.size(2), weight.size(-1));
    shape = {
        input.dtype(),  input.size(0),
        groups,         input.size(1),
        weight.size(0), make_window(in, kernel, pair(stride, "stride", 1), pair(padding, "padding", 0), pair(dilation, "dilation", 1), op)};
    out_sizes = {shape.batch, shape.out_channels, shape.window.out_h, shape.window.out_w};
    if (flat) out_sizes.erase(2);
  }
  // Room for the columns of one image, if they have to be made.
  Tensor workspace(Device device) const { return new_tensor({shape.column_elements()}, shape.type, device); }

  cpu::ConvolutionShape shape;
  DimVector out_sizes;
};

// ---- kernels ----

Tensor inner_convolution_kernel(const Tensor& input, const Tensor& weight, MaybeTensor bias, IntArrayRef stride, IntArrayRef padding,
                                IntArrayRef dilation, bool transposed, IntArrayRef, std::int64_t groups, bool, bool, bool, bool) {
  constexpr const char* kOp = "aten::convolution";
  check_convolution(input, weight, bias, transposed, groups, kOp);
  const Geometry geometry(input, weight, stride, padding, dilation, groups, kOp);
  const Tensor x = input.contiguous(), w = weight.contiguous(), b = contiguous_or_undefined(bias);
  const Tensor out = new_tensor(geometry.out_sizes, input.dtype(), input.device()), columns = geometry.workspace(input.device());
  launch(input.device(), "convolution", cpu::convolution, geometry.shape, out.data_ptr(), x.data_ptr(), w.data_ptr(), data_or_null(b),
         columns.data_ptr());
  return out;
}

Tensor convolution_kernel(const Tensor& input, const Tensor& weight, MaybeTensor bias, IntArrayRef stride, IntArrayRef padding,
                          IntArrayRef dilation, bool transposed, IntArrayRef output_padding, std::int64_t groups) {
  return inner_convolution_op(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups, false, false, false,
                              false);
}

// Everything but the channels.
DimVector dims_of_bias(const Tensor& grad) { return grad.dim() == 3 ? DimVector{0, 2} : DimVector{0, 2, 3}; }

ThreeTensors convolution_backward_kernel(const Tensor& grad, const Tensor& input, const Tensor& weight, std::optional<IntArrayRef>,
                                         IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed, IntArrayRef,
                                         std::int64_t groups, std::array<bool, 3> mask) {
  constexpr const char* kOp = "aten::convolution_backward";
  check_convolution(input, weight, std::nullopt, transposed, groups, kOp);
  const Geometry geometry(input, weight, stride, padding, dilation, groups, kOp);
  if (grad.sizes() != IntArrayRef(geometry.out_sizes))
    throw_error(kOp, "expected a gradient of size {}, got {}", to_string(geometry.out_sizes), to_string(grad.sizes()));
  const Tensor g = grad.contiguous(), columns = geometry.workspace(input.device());
  ThreeTensors result;
  auto& [grad_in, grad_weight, grad_bias] = result;
  if (mask[0]) {
    grad_in = new_tensor(input.sizes(), input.dtype(), input.device());
    const Tensor w = weight.contiguous();
    launch(input.device(), "convolution_grad_input", cpu::convolution_grad_input, geometry.shape, grad_in.data_ptr(), g.data_ptr(),
           w.data_ptr(), columns.data_ptr());
  }
  if (mask[1]) {
    grad_weight = new_tensor(weight.sizes(), weight.dtype(), weight.device());
    const Tensor x = input.contiguous();
    launch(input.device(), "convolution_grad_weight", cpu::convolution_grad_weight, geometry.shape, grad_weight.data_ptr(), g.data_ptr(),
           x.data_ptr(), columns.data_ptr());
  }
  if (mask[2]) grad_bias = g.sum(dims_of_bias(g));
  return result;
}

// `dims`: dimensions of an input with a batch. One without is given one for the time being.
template <std::int64_t dims>
Tensor conv_composite(const Tensor& input, const Tensor& weight, MaybeTensor bias, IntArrayRef stride, IntArrayRef padding,
                      IntArrayRef dilation, std::int64_t groups) {
  constexpr std::int64_t kNone[] = {0, 0};
  if (input.dim() != dims && input.dim() != dims - 1)
    throw_error(dims == 3 ? "aten::conv1d" : "aten::conv2d",
                "Expected {}D (unbatched) or {}D (batched) input to conv{}d, but got input of size: {}", dims - 1, dims, dims - 2,
                to_string(input.sizes()));
  const IntArrayRef output_padding(kNone, dims - 2);
  const Tensor batched = input.dim() == dims ? input : input.unsqueeze(0);
  const Tensor out = convolution_op(batched, weight, bias, stride, padding, dilation, false, output_padding, groups);
  return input.dim() == dims ? out : out.squeeze(0);
}

// ---- derivatives ----

struct ConvolutionBackward0 {
  static constexpr std::string_view kName = "ConvolutionBackward0";
  SavedVariable input, weight;
  DimVector stride, padding, dilation, output_padding, bias_sizes;
  bool transposed;
  std::int64_t groups;
  template <class... Switches>
  ConvolutionBackward0(InputNeeds, const Tensor& x, const Tensor& w, MaybeTensor b, IntArrayRef s, IntArrayRef p, IntArrayRef d, bool t,
                       IntArrayRef o, std::int64_t g, const Switches&...)
      : input(x), weight(w), stride(s), padding(p), dilation(d), output_padding(o), transposed(t), groups(g) {
    if (is_defined(b)) bias_sizes = b->sizes();
  }
  auto saved() { return std::tie(input, weight); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor x = grads.unpack(input), w = grads.unpack(weight);
    if (GradMode::is_enabled()) return differentiable(grads, grad, x, w);
    const auto [of_input, of_weight, of_bias] =
        convolution_backward_op(grad, x, w, bias_sizes, stride, padding, dilation, transposed, output_padding, groups,
                                {grads.needs(0), grads.needs(1), grads.needs(2)});
    grads.set(0, of_input);
    grads.set(1, of_weight);
    grads.set(2, of_bias);
  }

  // The same as products of matrices and unfolding, which can be differentiated again: out = weight * columns, group by group.
  void differentiable(Gradients& grads, const Tensor& grad, const Tensor& x, const Tensor& w) const {
    const bool flat = w.dim() == 3;
    const auto pair = [flat](const DimVector& values, std::int64_t of_height) {
      return flat ? DimVector{of_height, values.data()[values.size() - 1]} : values;
    };
    const DimVector kernel = flat ? DimVector{1, w.size(2)} : DimVector{w.size(2), w.size(3)};
    const DimVector in = flat ? DimVector{1, x.size(2)} : DimVector{x.size(2), x.size(3)};
    const DimVector s = pair(stride, 1), p = pair(padding, 0), d = pair(dilation, 1);
    const std::int64_t batch = x.size(0), positions = flat ? grad.size(2) : grad.size(2) * grad.size(3);
    const std::int64_t taps = kernel[0] * kernel[1], inputs = x.size(1) / groups * taps;  // of a group
    const Tensor g = grad.reshape({batch, groups, w.size(0) / groups, positions});
    if (grads.needs(0)) {
      const Tensor filters = w.reshape({groups, w.size(0) / groups, inputs});
      const Tensor columns = matmul(filters.transpose(1, 2), g).reshape({batch, groups * inputs, positions});
      grads.set(0, col2im(columns, in, kernel, d, p, s).reshape(x.sizes()));
    }
    if (grads.needs(1)) {
      const Tensor image = flat ? x.unsqueeze(2) : x;
      const Tensor columns = im2col(image, kernel, d, p, s).reshape({batch, groups, inputs, positions});
      grads.set(1, matmul(g, columns.transpose(2, 3)).sum({0}).reshape(w.sizes()));
    }
    if (grads.needs(2)) grads.set(2, grad.sum(dims_of_bias(grad)));
  }
};

struct ConvolutionBackward1 : ConvolutionBackward0 {
  static constexpr std::string_view kName = "ConvolutionBackward1";
  using ConvolutionBackward0::ConvolutionBackward0;
};

}  // namespace

Tensor conv1d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
              std::int64_t groups) {
  return conv1d_op(input, weight, defined_or_none(bias), stride, padding, dilation, groups);
}
Tensor conv2d(const Tensor& input, const Tensor& weight, const Tensor& bias, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
              std::int64_t groups) {
  return conv2d_op(input, weight, defined_or_none(bias), stride, padding, dilation, groups);
}

void register_convolution_ops(Library& library) {
  library.define<conv1d_op>().composite<conv_composite<3>>();
  library.define<conv2d_op>().composite<conv_composite<4>>();
  library.define<convolution_op>().kernel<convolution_kernel>().autograd<ConvolutionBackward0>();
  library.define<inner_convolution_op>().kernel<inner_convolution_kernel>().autograd<ConvolutionBackward1>();
  library.define<convolution_backward_op>().kernel<convolution_backward_kernel>();
}

}  // namespace mindtorch
