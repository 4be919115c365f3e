// Dropout.
#include "mindtorch/runtime/ops/dropout.h"

#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"
#include "mindtorch/runtime/kernels/cpu/dropout.h"
#include "mindtorch/runtime/launch.h"
#include "mindtorch/runtime/pointwise.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;
using autograd::SavedVariable;
using TwoTensors = std::tuple<Tensor, Tensor>;

constinit Op<Tensor(const Tensor&, double, bool)> dropout_op{"aten::dropout(Tensor input, float p, bool train) -> Tensor"};
constinit Op<TwoTensors(const Tensor&, double, std::optional<bool>)> native_dropout_op{
    "aten::native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)"};
constinit Op<Tensor(const Tensor&, const Tensor&, double)> native_dropout_backward_op{
    "aten::native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor"};

double scale_of(double p) { return p == 1 ? 0 : 1 / (1 - p); }

Tensor dropout_composite(const Tensor& input, double p, bool train) {
  if (!(p >= 0 && p <= 1)) throw_error("aten::dropout", "dropout probability has to be between 0 and 1, but got {}", p);
  if (!train || p == 0 || input.numel() == 0) return input;
  return std::get<0>(native_dropout_op(input, p, train));
}

TwoTensors native_dropout_kernel(const Tensor& input, double p, std::optional<bool> train) {
  if (!input.is_floating_point()) throw_error("aten::native_dropout", "not implemented for '{}'", scalar_type_title(input.dtype()));
  if (!train.value_or(true)) return {input.clone(), ones(input.sizes(), {.dtype = kBool, .device = input.device()})};
  if (!(p >= 0 && p <= 1)) throw_error("aten::native_dropout", "dropout probability has to be between 0 and 1, but got {}", p);
  const Tensor dense = input.contiguous(), out = new_tensor(input.sizes(), input.dtype(), input.device());
  const Tensor mask = new_tensor(input.sizes(), kBool, input.device());
  const PhiloxState random = default_generator().reserve(cpu::dropout_blocks(input.numel()));
  launch(input.device(), "dropout", cpu::dropout, input.dtype(), input.numel(), out.data_ptr(), mask.data_ptr<bool>(), dense.data_ptr(), p,
         scale_of(p), random);
  return {out, mask};
}

Tensor native_dropout_backward_kernel(const Tensor& grad, const Tensor& mask, double scale) {
  constexpr const char* kOp = "aten::native_dropout_backward";
  common_device({&grad, &mask}, kOp);
  if (mask.dtype() != kBool || mask.sizes() != grad.sizes())
    throw_error(kOp, "Mask should be a bool tensor of sizes {}, got {} {}", to_string(grad.sizes()), dtype_name(mask.dtype()),
                to_string(mask.sizes()));
  const Tensor dense = grad.contiguous(), kept = mask.contiguous(), out = new_tensor(grad.sizes(), grad.dtype(), grad.device());
  launch(grad.device(), "dropout_backward", cpu::masked_scale, grad.dtype(), grad.numel(), out.data_ptr(), kept.data_ptr<bool>(),
         dense.data_ptr(), scale);
  return out;
}

struct NativeDropoutBackward0 {
  static constexpr std::string_view kName = "NativeDropoutBackward0";
  static constexpr std::size_t kDifferentiableOutputs = 1;
  SavedVariable mask;
  double scale;
  NativeDropoutBackward0(InputNeeds, const Tensor&, double p, std::optional<bool> train) : scale(train.value_or(true) ? scale_of(p) : 1) {}
  void save_result(const TwoTensors& result) { mask = SavedVariable(std::get<1>(result)); }
  auto saved() { return std::tie(mask); }
  void operator()(Gradients& grads, const TensorVector& inputs) {
    if (inputs[0].defined()) grads.set(0, native_dropout_backward_op(inputs[0], grads.unpack(mask), scale));
  }
};

// Linear, and its own adjoint.
struct NativeDropoutBackwardBackward0 {
  static constexpr std::string_view kName = "NativeDropoutBackwardBackward0";
  SavedVariable mask;
  double scale;
  NativeDropoutBackwardBackward0(InputNeeds, const Tensor&, const Tensor& kept, double factor) : mask(kept), scale(factor) {}
  auto saved() { return std::tie(mask); }
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, native_dropout_backward_op(grad, grads.unpack(mask), scale)); }
};

}  // namespace

Tensor dropout(const Tensor& input, double p, bool train) { return dropout_op(input, p, train); }

void register_dropout_ops(Library& library) {
  library.define<dropout_op>().composite<dropout_composite>();
  library.define<native_dropout_op>().kernel<native_dropout_kernel>().autograd<NativeDropoutBackward0>();
  library.define<native_dropout_backward_op>().kernel<native_dropout_backward_kernel>().autograd<NativeDropoutBackwardBackward0>();
}

}  // namespace mindtorch
