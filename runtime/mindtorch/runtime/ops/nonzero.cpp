// Elements chosen by their values: nonzero, masked_select.
#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"
#include "mindtorch/runtime/kernels/cpu/indexing.h"
#include "mindtorch/runtime/launch.h"
#include "mindtorch/runtime/pointwise.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;
using autograd::SavedVariable;

constinit Op<Tensor(const Tensor&)> nonzero_op{"aten::nonzero(Tensor self) -> Tensor"};
constinit Op<TensorVector(const Tensor&)> nonzero_numpy_op{"aten::nonzero_numpy(Tensor self) -> Tensor[]"};
constinit Op<TensorVector(const Tensor&)> where_nonzero_op{"aten::where(Tensor condition) -> Tensor[]"};
constinit Op<Tensor(const Tensor&, const Tensor&)> masked_select_op{"aten::masked_select(Tensor self, Tensor mask) -> Tensor"};

Tensor nonzero_kernel(const Tensor& self) {
  const Tensor input = self.contiguous(), counted = new_tensor({1}, kInt64, self.device());
  launch(self.device(), "nonzero", cpu::count_nonzero, self.dtype(), counted.data_ptr<std::int64_t>(), input.data_ptr(), self.numel());
  const Tensor on_host = counted.is_cpu() ? counted : counted.to(Device());
  const Tensor out = new_tensor({*on_host.data_ptr<std::int64_t>(), self.dim()}, kInt64, self.device());
  cpu::Extents extents{self.dim(), {}};
  std::copy(self.sizes().begin(), self.sizes().end(), extents.sizes);
  if (out.numel() != 0)
    launch(self.device(), "nonzero", cpu::nonzero, self.dtype(), out.data_ptr<std::int64_t>(), input.data_ptr(), extents);
  return out;
}

TensorVector nonzero_numpy_composite(const Tensor& self) { return nonzero_op(self.dim() == 0 ? self.unsqueeze(0) : self).unbind(1); }

TensorVector where_nonzero_composite(const Tensor& condition) { return nonzero_numpy_op(condition); }

Tensor masked_select_kernel(const Tensor& self, const Tensor& mask) {
  if (mask.dtype() != kBool) throw_error("aten::masked_select", "expected BoolTensor for mask, got {}", scalar_type_title(mask.dtype()));
  common_device({&self, &mask}, "aten::masked_select");
  DimVector sizes = broadcast_shape(self.sizes(), mask.sizes(), "aten::masked_select");
  if (sizes.empty()) sizes = {1};
  return index(self.expand(sizes), {mask.expand(sizes)});
}

struct MaskedSelectBackward0 {
  static constexpr std::string_view kName = "MaskedSelectBackward0";
  SavedVariable mask;
  DimVector sizes;
  MaskedSelectBackward0(InputNeeds, const Tensor& self, const Tensor& m)
      : mask(m), sizes(broadcast_shape(self.sizes(), m.sizes(), "aten::masked_select")) {
    if (sizes.empty()) sizes = {1};
  }
  auto saved() { return std::tie(mask); }
  void operator()(Gradients& grads, const Tensor& grad) {
    grads.set(0, index_put_(zeros(sizes, grad.options()), {grads.unpack(mask).expand(sizes)}, grad, true));
  }
};

}  // namespace

Tensor nonzero(const Tensor& self) { return nonzero_op(self); }
TensorVector nonzero_numpy(const Tensor& self) { return nonzero_numpy_op(self); }
Tensor masked_select(const Tensor& self, const Tensor& mask) { return masked_select_op(self, mask); }

void register_nonzero_ops(Library& library) {
  library.define<nonzero_op>().kernel<nonzero_kernel>().not_differentiable();
  library.define<nonzero_numpy_op>().composite<nonzero_numpy_composite>();
  library.define<where_nonzero_op>().composite<where_nonzero_composite>();
  library.define<masked_select_op>().kernel<masked_select_kernel>().autograd<MaskedSelectBackward0>();
}

}  // namespace mindtorch
