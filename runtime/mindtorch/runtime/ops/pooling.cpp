// Pooling over the last two dimensions.
#include "mindtorch/runtime/ops/pooling.h"

#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"
#include "mindtorch/runtime/kernels/cpu/pooling.h"
#include "mindtorch/runtime/launch.h"
#include "mindtorch/runtime/ops/window.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;
using autograd::SavedVariable;
using TwoTensors = std::tuple<Tensor, Tensor>;
using MaybeInt = std::optional<std::int64_t>;

constinit Op<Tensor(const Tensor&, IntArrayRef, IntArrayRef, IntArrayRef, IntArrayRef, bool)> max_pool2d_op{
    "aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> "
    "Tensor"};
constinit Op<TwoTensors(const Tensor&, IntArrayRef, IntArrayRef, IntArrayRef, IntArrayRef, bool)> max_pool2d_with_indices_op{
    "aten::max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool "
    "ceil_mode=False) -> (Tensor, Tensor)"};
constinit Op<Tensor(const Tensor&, const Tensor&, IntArrayRef, IntArrayRef, IntArrayRef, IntArrayRef, bool, const Tensor&)>
    max_pool2d_backward_op{
        "aten::max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, int[2] "
        "dilation, bool ceil_mode, Tensor indices) -> Tensor"};
constinit Op<Tensor(const Tensor&, IntArrayRef, IntArrayRef, IntArrayRef, bool, bool, MaybeInt)> avg_pool2d_op{
    "aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool "
    "count_include_pad=True, "
    "int? divisor_override=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, IntArrayRef, IntArrayRef, IntArrayRef, bool, bool, MaybeInt)> avg_pool2d_backward_op{
    "aten::avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, bool ceil_mode, bool "
    "count_include_pad, int? divisor_override) -> Tensor"};
constinit Op<Tensor(const Tensor&, IntArrayRef)> adaptive_avg_pool2d_op{
    "aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor"};
constinit Op<Tensor(const Tensor&, IntArrayRef)> inner_adaptive_avg_pool2d_op{
    "aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&)> adaptive_avg_pool2d_backward_op{
    "aten::_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor"};

// ---- shapes ----

void check_images(const Tensor& self, const char* op, bool accepts_integers = false) {
  if ((self.dim() != 3 && self.dim() != 4) || self.size(-1) == 0 || self.size(-2) == 0 || self.size(-3) == 0)
    throw_error(op, "Expected 3D or 4D (batch mode) tensor with non-zero size for all dimensions but the batch, but got: {}",
                to_string(self.sizes()));
  if (!self.is_floating_point() && !(accepts_integers && is_integral(self.dtype())))
    throw_error(op, "not implemented for '{}'", scalar_type_title(self.dtype()));
}

cpu::Window pool_window(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                        bool ceil_mode, const char* op, bool accepts_integers = false) {
  check_images(self, op, accepts_integers);
  const Pair kernel(kernel_size, "kernel_size", op), pad(padding, "padding", op), step(dilation, "dilation", op);
  const Pair reach((kernel.h - 1) * step.h + 1, (kernel.w - 1) * step.w + 1);
  if (pad.h > reach.h / 2 || pad.w > reach.w / 2)
    throw_error(op, "pad should be at most half of effective kernel size, but got pad=[{}, {}], kernel_size=[{}, {}] and dilation=[{}, {}]",
                pad.h, pad.w, kernel.h, kernel.w, step.h, step.w);
  return make_window({self.size(-2), self.size(-1)}, kernel, stride.empty() ? kernel : Pair(stride, "stride", op), pad, step, op,
                     ceil_mode);
}

std::int64_t planes_of(const Tensor& self) { return self.dim() == 3 ? self.size(0) : self.size(0) * self.size(1); }

// `self` with other heights and widths.
Tensor new_images(const Tensor& self, std::int64_t height, std::int64_t width, ScalarType type) {
  DimVector sizes(self.sizes());
  sizes[sizes.size() - 2] = height;
  sizes[sizes.size() - 1] = width;
  return new_tensor(sizes, type, self.device());
}

void check_gradient(const Tensor& grad, const Tensor& self, std::int64_t height, std::int64_t width, const char* op) {
  if (grad.dim() != self.dim() || grad.size(-1) != width || grad.size(-2) != height || planes_of(grad) != planes_of(self))
    throw_error(op, "expected a gradient of {} planes of {} x {}, got {}", planes_of(self), height, width, to_string(grad.sizes()));
}

// ---- kernels ----

TwoTensors max_pool2d_with_indices_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                                          IntArrayRef dilation, bool ceil_mode) {
  const cpu::Window window = pool_window(self, kernel_size, stride, padding, dilation, ceil_mode, "aten::max_pool2d", true);
  const Tensor images = self.contiguous();
  const Tensor out = new_images(self, window.out_h, window.out_w, self.dtype()),
               indices = new_images(self, window.out_h, window.out_w, kInt64);
  launch(self.device(), "max_pool2d", cpu::max_pool, self.dtype(), window, planes_of(self), out.data_ptr(),
         indices.data_ptr<std::int64_t>(), images.data_ptr());
  return {out, indices};
}

Tensor max_pool2d_backward_kernel(const Tensor& grad, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                                  IntArrayRef dilation, bool ceil_mode, const Tensor& indices) {
  constexpr const char* kOp = "aten::max_pool2d_with_indices_backward";
  const cpu::Window window = pool_window(self, kernel_size, stride, padding, dilation, ceil_mode, kOp);
  check_gradient(grad, self, window.out_h, window.out_w, kOp);
  const Tensor dense = grad.contiguous(), positions = indices.contiguous();
  const Tensor grad_in = new_tensor(self.sizes(), self.dtype(), self.device()).zero_();
  launch(self.device(), "max_pool2d_backward", cpu::max_pool_backward, self.dtype(), window, planes_of(self), grad_in.data_ptr(),
         dense.data_ptr(), positions.data_ptr<std::int64_t>());
  return grad_in;
}

cpu::AveragePool average_pool(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                              bool count_include_pad, MaybeInt divisor_override, const char* op) {
  if (divisor_override && *divisor_override == 0) throw_error(op, "divisor must be not zero");
  return {pool_window(self, kernel_size, stride, padding, 1, ceil_mode, op), count_include_pad, divisor_override.value_or(0)};
}

Tensor avg_pool2d_kernel(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                         bool count_include_pad, MaybeInt divisor_override) {
  const cpu::AveragePool pool =
      average_pool(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, "aten::avg_pool2d");
  const Tensor images = self.contiguous(), out = new_images(self, pool.window.out_h, pool.window.out_w, self.dtype());
  launch(self.device(), "avg_pool2d", cpu::avg_pool, self.dtype(), pool, planes_of(self), out.data_ptr(), images.data_ptr());
  return out;
}

Tensor avg_pool2d_backward_kernel(const Tensor& grad, const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                                  bool ceil_mode, bool count_include_pad, MaybeInt divisor_override) {
  constexpr const char* kOp = "aten::avg_pool2d_backward";
  const cpu::AveragePool pool = average_pool(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, kOp);
  check_gradient(grad, self, pool.window.out_h, pool.window.out_w, kOp);
  const Tensor dense = grad.contiguous(), grad_in = new_tensor(self.sizes(), self.dtype(), self.device());
  launch(self.device(), "avg_pool2d_backward", cpu::avg_pool_backward, self.dtype(), pool, planes_of(self), grad_in.data_ptr(),
         dense.data_ptr());
  return grad_in;
}

Tensor inner_adaptive_avg_pool2d_kernel(const Tensor& self, IntArrayRef output_size) {
  constexpr const char* kOp = "aten::_adaptive_avg_pool2d";
  check_images(self, kOp);
  const Pair out_size(output_size, "output_size", kOp);
  if (out_size.h < 0 || out_size.w < 0)
    throw_error(kOp, "elements of output_size must be greater than or equal to 0, got {}", to_string(output_size));
  const Tensor images = self.contiguous(), out = new_images(self, out_size.h, out_size.w, self.dtype());
  launch(self.device(), "adaptive_avg_pool2d", cpu::adaptive_avg_pool, self.dtype(),
         cpu::AdaptivePool{self.size(-2), self.size(-1), out_size.h, out_size.w}, planes_of(self), out.data_ptr(), images.data_ptr());
  return out;
}

Tensor adaptive_avg_pool2d_backward_kernel(const Tensor& grad, const Tensor& self) {
  constexpr const char* kOp = "aten::_adaptive_avg_pool2d_backward";
  check_images(self, kOp);
  check_gradient(grad, self, grad.size(-2), grad.size(-1), kOp);
  const Tensor dense = grad.contiguous(), grad_in = new_tensor(self.sizes(), self.dtype(), self.device());
  launch(self.device(), "adaptive_avg_pool2d_backward", cpu::adaptive_avg_pool_backward, self.dtype(),
         cpu::AdaptivePool{self.size(-2), self.size(-1), grad.size(-2), grad.size(-1)}, planes_of(self), grad_in.data_ptr(),
         dense.data_ptr());
  return grad_in;
}

Tensor max_pool2d_composite(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                            bool ceil_mode) {
  return std::get<0>(max_pool2d_with_indices_op(self, kernel_size, stride, padding, dilation, ceil_mode));
}

// One window is a mean, which is a quicker walk.
Tensor adaptive_avg_pool2d_composite(const Tensor& self, IntArrayRef output_size) {
  const Pair size(output_size, "output_size", "aten::adaptive_avg_pool2d");
  if (size.h == 1 && size.w == 1) {
    check_images(self, "aten::adaptive_avg_pool2d");
    return self.mean({-1, -2}, true);
  }
  return inner_adaptive_avg_pool2d_op(self, output_size);
}

// ---- derivatives ----

struct MaxPool2DWithIndicesBackward0 {
  static constexpr std::string_view kName = "MaxPool2DWithIndicesBackward0";
  static constexpr std::size_t kDifferentiableOutputs = 1;
  SavedVariable self, indices;
  DimVector kernel_size, stride, padding, dilation;
  bool ceil_mode;
  MaxPool2DWithIndicesBackward0(InputNeeds, const Tensor& x, IntArrayRef k, IntArrayRef s, IntArrayRef p, IntArrayRef d, bool ceil)
      : self(x), kernel_size(k), stride(s), padding(p), dilation(d), ceil_mode(ceil) {}
  void save_result(const TwoTensors& result) { indices = SavedVariable(std::get<1>(result)); }
  auto saved() { return std::tie(self, indices); }
  void operator()(Gradients& grads, const TensorVector& inputs) {
    if (!inputs[0].defined()) return;
    grads.set(
        0, max_pool2d_backward_op(inputs[0], grads.unpack(self), kernel_size, stride, padding, dilation, ceil_mode, grads.unpack(indices)));
  }
};

// Linear in the gradient; what the maxima were is fixed by the indices.
struct MaxPool2DWithIndicesBackwardBackward0 {
  static constexpr std::string_view kName = "MaxPool2DWithIndicesBackwardBackward0";
  SavedVariable self, indices;
  DimVector out_sizes;
  MaxPool2DWithIndicesBackwardBackward0(InputNeeds, const Tensor& grad, const Tensor& x, IntArrayRef, IntArrayRef, IntArrayRef, IntArrayRef,
                                        bool, const Tensor& at)
      : self(x), indices(at), out_sizes(grad.sizes()) {}
  auto saved() { return std::tie(self, indices); }
  void operator()(Gradients& grads, const Tensor& grad) {
    if (grads.needs(0)) {
      DimVector planes(out_sizes);
      planes.erase(planes.size() - 1);
      planes.back() *= out_sizes.back();
      grads.set(0, gather(grad.flatten(-2), -1, grads.unpack(indices).reshape(planes)).reshape(out_sizes));
    }
    if (grads.needs(1)) grads.set(1, zeros_like(grads.unpack(self)));
  }
};

struct AvgPool2DBackward0 {
  static constexpr std::string_view kName = "AvgPool2DBackward0";
  SavedVariable self;
  DimVector kernel_size, stride, padding;
  bool ceil_mode, count_include_pad;
  MaybeInt divisor_override;
  AvgPool2DBackward0(InputNeeds, const Tensor& x, IntArrayRef k, IntArrayRef s, IntArrayRef p, bool ceil, bool include_pad,
                     MaybeInt divisor)
      : self(x), kernel_size(k), stride(s), padding(p), ceil_mode(ceil), count_include_pad(include_pad), divisor_override(divisor) {}
  auto saved() { return std::tie(self); }
  void operator()(Gradients& grads, const Tensor& grad) {
    grads.set(
        0, avg_pool2d_backward_op(grad, grads.unpack(self), kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override));
  }
};

struct AvgPool2DBackwardBackward0 {
  static constexpr std::string_view kName = "AvgPool2DBackwardBackward0";
  SavedVariable self;
  DimVector kernel_size, stride, padding;
  bool ceil_mode, count_include_pad;
  MaybeInt divisor_override;
  AvgPool2DBackwardBackward0(InputNeeds, const Tensor&, const Tensor& x, IntArrayRef k, IntArrayRef s, IntArrayRef p, bool ceil,
                             bool include_pad, MaybeInt divisor)
      : self(x), kernel_size(k), stride(s), padding(p), ceil_mode(ceil), count_include_pad(include_pad), divisor_override(divisor) {}
  auto saved() { return std::tie(self); }
  void operator()(Gradients& grads, const Tensor& grad) {
    if (grads.needs(0)) grads.set(0, avg_pool2d_op(grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override));
    if (grads.needs(1)) grads.set(1, zeros_like(grads.unpack(self)));
  }
};

struct AdaptiveAvgPool2DBackward0 {
  static constexpr std::string_view kName = "AdaptiveAvgPool2DBackward0";
  SavedVariable self;
  AdaptiveAvgPool2DBackward0(InputNeeds, const Tensor& x, IntArrayRef) : self(x) {}
  auto saved() { return std::tie(self); }
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, adaptive_avg_pool2d_backward_op(grad, grads.unpack(self))); }
};

struct AdaptiveAvgPool2DBackwardBackward0 {
  static constexpr std::string_view kName = "AdaptiveAvgPool2DBackwardBackward0";
  SavedVariable self;
  DimVector out_size;
  AdaptiveAvgPool2DBackwardBackward0(InputNeeds, const Tensor& grad, const Tensor& x) : self(x), out_size{grad.size(-2), grad.size(-1)} {}
  auto saved() { return std::tie(self); }
  void operator()(Gradients& grads, const Tensor& grad) {
    if (grads.needs(0)) grads.set(0, inner_adaptive_avg_pool2d_op(grad, out_size));
    if (grads.needs(1)) grads.set(1, zeros_like(grads.unpack(self)));
  }
};

}  // namespace

Tensor max_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                  bool ceil_mode) {
  return max_pool2d_op(self, kernel_size, stride, padding, dilation, ceil_mode);
}
std::tuple<Tensor, Tensor> max_pool2d_with_indices(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                                                   IntArrayRef dilation, bool ceil_mode) {
  return max_pool2d_with_indices_op(self, kernel_size, stride, padding, dilation, ceil_mode);
}
Tensor avg_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding, bool ceil_mode,
                  bool count_include_pad, MaybeInt divisor_override) {
  return avg_pool2d_op(self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override);
}
Tensor adaptive_avg_pool2d(const Tensor& self, IntArrayRef output_size) { return adaptive_avg_pool2d_op(self, output_size); }

void register_pooling_ops(Library& library) {
  library.define<max_pool2d_op>().composite<max_pool2d_composite>();
  library.define<max_pool2d_with_indices_op>().kernel<max_pool2d_with_indices_kernel>().autograd<MaxPool2DWithIndicesBackward0>();
  library.define<max_pool2d_backward_op>().kernel<max_pool2d_backward_kernel>().autograd<MaxPool2DWithIndicesBackwardBackward0>();
  library.define<avg_pool2d_op>().kernel<avg_pool2d_kernel>().autograd<AvgPool2DBackward0>();
  library.define<avg_pool2d_backward_op>().kernel<avg_pool2d_backward_kernel>().autograd<AvgPool2DBackwardBackward0>();
  library.define<adaptive_avg_pool2d_op>().composite<adaptive_avg_pool2d_composite>();
  library.define<inner_adaptive_avg_pool2d_op>().kernel<inner_adaptive_avg_pool2d_kernel>().autograd<AdaptiveAvgPool2DBackward0>();
  library.define<adaptive_avg_pool2d_backward_op>()
      .kernel<adaptive_avg_pool2d_backward_kernel>()
      .autograd<AdaptiveAvgPool2DBackwardBackward0>();
}

}  // namespace mindtorch
