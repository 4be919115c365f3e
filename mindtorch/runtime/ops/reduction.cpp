// Reductions.
#include "mindtorch/runtime/ops/reduction.h"

#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"
#include "mindtorch/runtime/kernels/cpu/reduction.h"
#include "mindtorch/runtime/launch.h"
#include "mindtorch/runtime/reduce_plan.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;
using OptionalDims = std::optional<IntArrayRef>;
using OptionalType = std::optional<ScalarType>;

constinit Op<Tensor(const Tensor&, OptionalType)> sum_op{"aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, OptionalDims, bool, OptionalType)> sum_dim_op{
    "aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, OptionalType)> mean_op{"aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, OptionalDims, bool, OptionalType)> mean_dim_op{
    "aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"};

Tensor sum_scaled(const Tensor& self, OptionalDims dims, bool keepdim, ScalarType type, bool is_mean, const char* op) {
  const Tensor input = self.dtype() == type ? self : self.to(type);
  const std::uint32_t mask = reduced_dims_mask(dims, self.dim(), op);
  const Tensor out = new_tensor(reduced_sizes(self.sizes(), mask, true), type, self.device());
  const ReducePlan plan = make_reduce_plan(out, input);
  const double scale = is_mean ? 1.0 / static_cast<double>(self.numel() == 0 ? 0 : plan.reduced_count) : 1.0;
  launch(self.device(), is_mean ? "mean" : "sum", cpu::sum, type, plan, scale);
  return keepdim ? out : make_dense_view(out, reduced_sizes(self.sizes(), mask, false));
}

ScalarType mean_type(const Tensor& self, OptionalType dtype) {
  const ScalarType type = dtype.value_or(self.dtype());
  if (!is_floating_point(type))
    throw_error("aten::mean", "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {}",
                scalar_type_title(type));
  return type;
}

Tensor sum_kernel(const Tensor& self, OptionalType dtype) {
  return sum_scaled(self, std::nullopt, false, sum_type(self.dtype(), dtype), false, "aten::sum");
}
Tensor sum_dim_kernel(const Tensor& self, OptionalDims dims, bool keepdim, OptionalType dtype) {
  return sum_scaled(self, dims, keepdim, sum_type(self.dtype(), dtype), false, "aten::sum");
}
Tensor mean_kernel(const Tensor& self, OptionalType dtype) {
  return sum_scaled(self, std::nullopt, false, mean_type(self, dtype), true, "aten::mean");
}
Tensor mean_dim_kernel(const Tensor& self, OptionalDims dims, bool keepdim, OptionalType dtype) {
  return sum_scaled(self, dims, keepdim, mean_type(self, dtype), true, "aten::mean");
}

// ---- derivatives ----

// What every reduction must remember to bring a gradient back to the shape of its input.
struct ReducedShape {
  DimVector sizes;
  std::uint32_t mask;
  ReducedShape(const Tensor& self, OptionalDims dims, const char* op)
      : sizes(self.sizes()), mask(reduced_dims_mask(dims, self.dim(), op)) {}
  Tensor expand(const Tensor& grad) const { return grad.reshape(reduced_sizes(sizes, mask, true)).expand(sizes); }
  std::int64_t count() const {
    std::int64_t n = 1;
    for (std::size_t d = 0; d < sizes.size(); ++d)
      if ((mask >> d & 1) != 0) n *= sizes[d];
    return n;
  }
};

struct SumBackward0 {
  static constexpr std::string_view kName = "SumBackward0";
  DimVector sizes;
  SumBackward0(InputNeeds, const Tensor& self, OptionalType) : sizes(self.sizes()) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, grad.expand(sizes)); }
};
struct SumBackward1 {
  static constexpr std::string_view kName = "SumBackward1";
  ReducedShape shape;
  SumBackward1(InputNeeds, const Tensor& self, OptionalDims dims, bool, OptionalType) : shape(self, dims, "aten::sum") {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, shape.expand(grad)); }
};
struct MeanBackward0 {
  static constexpr std::string_view kName = "MeanBackward0";
  DimVector sizes;
  std::int64_t numel;
  MeanBackward0(InputNeeds, const Tensor& self, OptionalType) : sizes(self.sizes()), numel(self.numel()) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, grad.expand(sizes) / numel); }
};
struct MeanBackward1 {
  static constexpr std::string_view kName = "MeanBackward1";
  ReducedShape shape;
  MeanBackward1(InputNeeds, const Tensor& self, OptionalDims dims, bool, OptionalType) : shape(self, dims, "aten::mean") {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, shape.expand(grad) / shape.count()); }
};

}  // namespace

Tensor sum(const Tensor& self, OptionalType dtype) { return sum_op(self, dtype); }
Tensor sum(const Tensor& self, IntArrayRef dims, bool keepdim, OptionalType dtype) { return sum_dim_op(self, dims, keepdim, dtype); }
Tensor mean(const Tensor& self, OptionalType dtype) { return mean_op(self, dtype); }
Tensor mean(const Tensor& self, IntArrayRef dims, bool keepdim, OptionalType dtype) { return mean_dim_op(self, dims, keepdim, dtype); }

Tensor Tensor::sum(OptionalType dtype) const { return sum_op(*this, dtype); }
Tensor Tensor::sum(IntArrayRef dims, bool keepdim, OptionalType dtype) const { return sum_dim_op(*this, dims, keepdim, dtype); }
Tensor Tensor::mean(OptionalType dtype) const { return mean_op(*this, dtype); }
Tensor Tensor::mean(IntArrayRef dims, bool keepdim, OptionalType dtype) const { return mean_dim_op(*this, dims, keepdim, dtype); }

void register_reduction_ops(Library& library) {
  library.define<sum_op>().kernel<sum_kernel>().autograd<SumBackward0>();
  library.define<sum_dim_op>().kernel<sum_dim_kernel>().autograd<SumBackward1>();
  library.define<mean_op>().kernel<mean_kernel>().autograd<MeanBackward0>();
  library.define<mean_dim_op>().kernel<mean_dim_kernel>().autograd<MeanBackward1>();
}

}  // namespace mindtorch
