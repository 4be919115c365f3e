// softmax and log_softmax.
#include "mindtorch/runtime/ops/softmax.h"

#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"
#include "mindtorch/runtime/kernels/cpu/softmax.h"
#include "mindtorch/runtime/launch.h"
#include "mindtorch/runtime/pointwise.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;
using autograd::SavedVariable;
using OptionalType = std::optional<ScalarType>;

constinit Op<Tensor(const Tensor&, std::int64_t, OptionalType)> softmax_op{
    "aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, std::int64_t, bool)> softmax_forward_op{
    "aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor"};
constinit Op<Tensor(const Tensor&, std::int64_t, OptionalType)> safe_softmax_op{
    "aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, std::int64_t, ScalarType)> softmax_backward_op{
    "aten::_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor"};
constinit Op<Tensor(const Tensor&, std::int64_t, OptionalType)> log_softmax_op{
    "aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, std::int64_t, bool)> log_softmax_forward_op{
    "aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, std::int64_t, ScalarType)> log_softmax_backward_op{
    "aten::_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor"};

// ---- kernels ----

cpu::SoftmaxShape shape_around(const Tensor& self, std::int64_t dim, const char* op) {
  const std::int64_t d = wrap_dim(dim, self.dim(), op);
  cpu::SoftmaxShape shape{1, 1, 1};
  for (std::int64_t i = 0; i < self.dim(); ++i) (i < d ? shape.outer : i == d ? shape.size : shape.inner) *= self.sizes()[i];
  return shape;
}

template <class Kernel>
Tensor normalise(const char* op, Kernel kernel, const Tensor& self, std::int64_t dim, bool half_to_float) {
  if (half_to_float) throw_error(op, "softmax with half to float conversion is not supported on {}", self.device().str());
  const cpu::SoftmaxShape shape = shape_around(self, dim, op);
  if (!self.is_floating_point()) throw_error(op, "not implemented for '{}'", scalar_type_title(self.dtype()));
  const Tensor input = self.contiguous();
  const Tensor out = new_tensor(self.sizes(), self.dtype(), self.device());
  launch(self.device(), op + sizeof("aten::_") - 1, kernel, self.dtype(), shape, out.data_ptr(), input.data_ptr());
  return out;
}

template <class Kernel>
Tensor normalise_backward(const char* op, Kernel kernel, const Tensor& grad, const Tensor& output, std::int64_t dim) {
  const Device device = common_device({&grad, &output}, op);
  if (grad.sizes() != output.sizes() || grad.dtype() != output.dtype())
    throw_error(op, "grad_output and output must be alike, got {} {} and {} {}", dtype_name(grad.dtype()), to_string(grad.sizes()),
                dtype_name(output.dtype()), to_string(output.sizes()));
  const cpu::SoftmaxShape shape = shape_around(output, dim, op);
  const Tensor dense_grad = grad.contiguous(), dense_output = output.contiguous();
  const Tensor grad_in = new_tensor(output.sizes(), output.dtype(), device);
  launch(device, op + sizeof("aten::_") - 1, kernel, output.dtype(), shape, grad_in.data_ptr(), dense_grad.data_ptr(),
         dense_output.data_ptr());
  return grad_in;
}

Tensor softmax_forward_kernel(const Tensor& self, std::int64_t dim, bool half_to_float) {
  return normalise("aten::_softmax", cpu::softmax, self, dim, half_to_float);
}
Tensor safe_softmax_kernel(const Tensor& self, std::int64_t dim, OptionalType dtype) {
  return normalise("aten::_safe_softmax", cpu::safe_softmax, dtype ? self.to(*dtype) : self, dim, false);
}
Tensor log_softmax_forward_kernel(const Tensor& self, std::int64_t dim, bool half_to_float) {
  return normalise("aten::_log_softmax", cpu::log_softmax, self, dim, half_to_float);
}
Tensor softmax_backward_kernel(const Tensor& grad, const Tensor& output, std::int64_t dim, ScalarType) {
  return normalise_backward("aten::_softmax_backward_data", cpu::softmax_backward, grad, output, dim);
}
Tensor log_softmax_backward_kernel(const Tensor& grad, const Tensor& output, std::int64_t dim, ScalarType) {
  return normalise_backward("aten::_log_softmax_backward_data", cpu::log_softmax_backward, grad, output, dim);
}

Tensor softmax_composite(const Tensor& self, std::int64_t dim, OptionalType dtype) {
  return softmax_forward_op(dtype ? self.to(*dtype) : self, dim, false);
}
Tensor log_softmax_composite(const Tensor& self, std::int64_t dim, OptionalType dtype) {
  return log_softmax_forward_op(dtype ? self.to(*dtype) : self, dim, false);
}

// ---- derivatives ----

struct SoftmaxBackward0 {
  static constexpr std::string_view kName = "SoftmaxBackward0";
  SavedVariable result;
  std::int64_t dim;
  template <class Option>
  SoftmaxBackward0(InputNeeds, const Tensor&, std::int64_t d, const Option&) : dim(d) {}
  void save_result(const Tensor& value) { result = SavedVariable(value, true); }
  auto saved() { return std::tie(result); }
  void operator()(Gradients& grads, const Tensor& grad) {
    grads.set(0, softmax_backward_op(grad, grads.unpack(result), dim, grad.dtype()));
  }
};

struct SafeSoftmaxBackward0 : SoftmaxBackward0 {
  static constexpr std::string_view kName = "SafeSoftmaxBackward0";
  using SoftmaxBackward0::SoftmaxBackward0;
};

// Of y (g - sum(g y)) in g and y.
struct SoftmaxBackwardDataBackward0 {
  static constexpr std::string_view kName = "SoftmaxBackwardDataBackward0";
  SavedVariable grad_output, output;
  std::int64_t dim;
  SoftmaxBackwardDataBackward0(InputNeeds needs, const Tensor& g, const Tensor& y, std::int64_t d, ScalarType)
      : grad_output(needs[1] ? g : Tensor()), output(y), dim(d) {}
  auto saved() { return std::tie(grad_output, output); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor y = grads.unpack(output);
    if (grads.needs(0)) grads.set(0, softmax_backward_op(grad, y, dim, grad.dtype()));
    if (!grads.needs(1)) return;
    const Tensor g = grads.unpack(grad_output);
    grads.set(1, grad * (g - (g * y).sum({dim}, true)) - g * (grad * y).sum({dim}, true));
  }
};

struct LogSoftmaxBackward0 {
  static constexpr std::string_view kName = "LogSoftmaxBackward0";
  SavedVariable result;
  std::int64_t dim;
  LogSoftmaxBackward0(InputNeeds, const Tensor&, std::int64_t d, bool) : dim(d) {}
  void save_result(const Tensor& value) { result = SavedVariable(value, true); }
  auto saved() { return std::tie(result); }
  void operator()(Gradients& grads, const Tensor& grad) {
    grads.set(0, log_softmax_backward_op(grad, grads.unpack(result), dim, grad.dtype()));
  }
};

// Of g - exp(y) sum(g) in g and y.
struct LogSoftmaxBackwardDataBackward0 {
  static constexpr std::string_view kName = "LogSoftmaxBackwardDataBackward0";
  SavedVariable grad_output, output;
  std::int64_t dim;
  LogSoftmaxBackwardDataBackward0(InputNeeds needs, const Tensor& g, const Tensor& y, std::int64_t d, ScalarType)
      : grad_output(needs[1] ? g : Tensor()), output(y), dim(d) {}
  auto saved() { return std::tie(grad_output, output); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor weighted = grad * grads.unpack(output).exp();
    if (grads.needs(0)) grads.set(0, grad - weighted.sum({dim}, true));
    if (grads.needs(1)) grads.set(1, -weighted * grads.unpack(grad_output).sum({dim}, true));
  }
};

}  // namespace

Tensor softmax(const Tensor& self, std::int64_t dim, OptionalType dtype) { return softmax_op(self, dim, dtype); }
Tensor log_softmax(const Tensor& self, std::int64_t dim, OptionalType dtype) { return log_softmax_op(self, dim, dtype); }
Tensor safe_softmax(const Tensor& self, std::int64_t dim, OptionalType dtype) { return safe_softmax_op(self, dim, dtype); }

void register_softmax_ops(Library& library) {
  library.define<softmax_op>().composite<softmax_composite>();
  library.define<softmax_forward_op>().kernel<softmax_forward_kernel>().autograd<SoftmaxBackward0>();
  library.define<safe_softmax_op>().kernel<safe_softmax_kernel>().autograd<SafeSoftmaxBackward0>();
  library.define<softmax_backward_op>().kernel<softmax_backward_kernel>().autograd<SoftmaxBackwardDataBackward0>();
  library.define<log_softmax_op>().composite<log_softmax_composite>();
  library.define<log_softmax_forward_op>().kernel<log_softmax_forward_kernel>().autograd<LogSoftmaxBackward0>();
  library.define<log_softmax_backward_op>().kernel<log_softmax_backward_kernel>().autograd<LogSoftmaxBackwardDataBackward0>();
}

}  // namespace mindtorch
