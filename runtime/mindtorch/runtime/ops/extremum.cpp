// Extrema with and without their positions, the k largest, running sums.
#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/ops/reduced_shape.h"
#include "mindtorch/runtime/type_promotion.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;
using autograd::SavedVariable;
using ValuesAndIndices = std::tuple<Tensor, Tensor>;
using OptionalDim = std::optional<std::int64_t>;

constinit Op<Tensor(const Tensor&)> max_op{"aten::max(Tensor self) -> Tensor"};
constinit Op<Tensor(const Tensor&)> min_op{"aten::min(Tensor self) -> Tensor"};
constinit Op<ValuesAndIndices(const Tensor&, std::int64_t, bool)> max_dim_op{
    "aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"};
constinit Op<ValuesAndIndices(const Tensor&, std::int64_t, bool)> min_dim_op{
    "aten::min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)"};
constinit Op<Tensor(const Tensor&, IntArrayRef, bool)> amax_op{"aten::amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor"};
constinit Op<Tensor(const Tensor&, IntArrayRef, bool)> amin_op{"aten::amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor"};
constinit Op<Tensor(const Tensor&, OptionalDim, bool)> argmax_op{"aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"};
constinit Op<Tensor(const Tensor&, OptionalDim, bool)> argmin_op{"aten::argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"};
constinit Op<ValuesAndIndices(const Tensor&, std::int64_t, std::int64_t, bool, bool)> topk_op{
    "aten::topk(Tensor self, SymInt k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)"};
constinit Op<Tensor(const Tensor&, std::int64_t, OptionalType)> cumsum_op{
    "aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor"};
constinit Op<Tensor(const Tensor&, std::int64_t, const Tensor&, IntArrayRef, bool)> selecting_backward_op{
    "aten::value_selecting_reduction_backward(Tensor grad, int dim, Tensor indices, SymInt[] sizes, bool keepdim) -> Tensor"};

// ---- kernels ----

// There is no extremum of nothing.
void check_reducible(const Tensor& self, std::uint32_t mask, const char* op) {
  for (std::int64_t d = 0; d < self.dim(); ++d)
    if ((mask >> d & 1) != 0 && self.sizes()[d] == 0)
      throw_error<OutOfRange>(op, "Expected reduction dim {} to have non-zero size, the sizes are {}", d, to_string(self.sizes()));
}

template <bool largest>
Tensor extremum_kernel(const Tensor& self, IntArrayRef dims, bool keepdim) {
  constexpr const char* kOp = largest ? "aten::amax" : "aten::amin";
  if (dims.empty() && self.numel() == 0)
    throw_error(kOp, "Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.");
  check_reducible(self, reduced_dims_mask(dims, self.dim(), kOp), kOp);
  return reduce_tensor(kOp, self, dims, keepdim, self.dtype(), largest ? cpu::amax : cpu::amin);
}

template <bool largest>
Tensor total_extremum_kernel(const Tensor& self) {
  if (self.numel() == 0)
    throw_error(largest ? "aten::max" : "aten::min",
                "Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
                "'dim' argument.");
  return extremum_kernel<largest>(self, {}, false);
}

// Sizes with the reduced dimension of size 1 (`size` for topk), or without it.
DimVector sizes_without(const Tensor& self, std::int64_t dim, bool keepdim, std::int64_t size = 1) {
  DimVector sizes(self.sizes());
  if (self.dim() == 0) return sizes;
  if (keepdim)
    sizes[dim] = size;
  else
    sizes.erase(dim);
  return sizes;
}

template <bool largest>
ValuesAndIndices extremum_dim_kernel(const Tensor& self, std::int64_t dim, bool keepdim) {
  constexpr const char* kOp = largest ? "aten::max" : "aten::min";
  const std::int64_t d = wrap_dim(dim, self.dim(), kOp);
  check_reducible(self, 1u << d, kOp);
  const Tensor input = self.contiguous();
  const DimVector sizes = sizes_without(self, d, keepdim);
  const Tensor values = new_tensor(sizes, self.dtype(), self.device()), indices = new_tensor(sizes, kInt64, self.device());
  launch(self.device(), largest ? "max" : "min", cpu::extremum, self.dtype(), input.data_ptr(), values.data_ptr(),
         indices.data_ptr<std::int64_t>(), rows_along(input, d), largest);
  return {values, indices};
}

template <bool largest>
Tensor arg_extremum_kernel(const Tensor& self, OptionalDim dim, bool keepdim) {
  constexpr const char* kOp = largest ? "aten::argmax" : "aten::argmin";
  if (self.dtype() == kBool) throw_error(kOp, "does not support bool input");
  const Tensor input = dim ? self.contiguous() : self.contiguous().reshape({self.numel()});
  const std::int64_t d = dim ? wrap_dim(*dim, self.dim(), kOp) : 0;
  check_reducible(input, 1u << d, kOp);
  const DimVector sizes = dim ? sizes_without(self, d, keepdim) : keepdim ? DimVector(self.sizes().size(), 1) : DimVector();
  const Tensor indices = new_tensor(sizes, kInt64, self.device());
  launch(self.device(), largest ? "argmax" : "argmin", cpu::arg_extremum, self.dtype(), input.data_ptr(), indices.data_ptr<std::int64_t>(),
         rows_along(input, d), largest);
  return indices;
}

ValuesAndIndices topk_kernel(const Tensor& self, std::int64_t k, std::int64_t dim, bool largest, bool) {
  const std::int64_t d = wrap_dim(dim, self.dim(), "aten::topk");
  if (self.dtype() == kBool) throw_error("aten::topk", "topk does not support bool dtypes");
  if (k < 0 || k > (self.dim() == 0 ? 1 : self.sizes()[d]))
    throw_error("aten::topk", "selected index k out of range: {} of {}", k, to_string(self.sizes()));
  const Tensor input = self.contiguous();
  const DimVector sizes = sizes_without(self, d, true, k);
  const Tensor values = new_tensor(sizes, self.dtype(), self.device()), indices = new_tensor(sizes, kInt64, self.device());
  launch(self.device(), "topk", cpu::topk, self.dtype(), input.data_ptr(), values.data_ptr(), indices.data_ptr<std::int64_t>(),
         rows_along(input, d), k, largest);
  return {values, indices};
}

Tensor cumsum_kernel(const Tensor& self, std::int64_t dim, OptionalType dtype) {
  const std::int64_t d = wrap_dim(dim, self.dim(), "aten::cumsum");
  const ScalarType type = sum_type(self.dtype(), dtype);
  const Tensor input = self.to(type).contiguous();
  const Tensor out = new_tensor(self.sizes(), type, self.device());
  launch(self.device(), "cumsum", cpu::cumsum, type, input.data_ptr(), out.data_ptr(), rows_along(input, d));
  return out;
}

// The gradient goes to the selected elements.
Tensor selecting_backward_composite(const Tensor& grad, std::int64_t dim, const Tensor& indices, IntArrayRef sizes, bool keepdim) {
  const bool inserts = !keepdim && !sizes.empty();
  const Tensor g = inserts ? grad.unsqueeze(dim) : grad, at = inserts ? indices.unsqueeze(dim) : indices;
  return scatter_add(zeros(sizes, g.options()), dim, at, g);
}

// ---- derivatives ----

// Equal extrema share the gradient.
template <bool largest, bool total>
struct ExtremumBackward {
  static constexpr std::string_view kName =
      total ? (largest ? "MaxBackward1" : "MinBackward1") : (largest ? "AmaxBackward0" : "AminBackward0");
  SavedVariable self, result;
  ReducedShape shape;
  ExtremumBackward(InputNeeds, const Tensor& x) : self(x), shape(x, std::nullopt, "aten::max") {}
  ExtremumBackward(InputNeeds, const Tensor& x, IntArrayRef dims, bool) : self(x), shape(x, dims, "aten::amax") {}
  void save_result(const Tensor& value) { result = SavedVariable(value, true); }
  auto saved() { return std::tie(self, result); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor x = grads.unpack(self), extremum = shape.keep_dims(grads.unpack(result));
    Tensor is_extreme = x.eq(extremum);
    if (total) is_extreme = where(extremum.isnan(), x.isnan(), is_extreme);
    is_extreme = is_extreme.to(grad.dtype());
    const Tensor ties = shape.mask == 0 ? is_extreme : is_extreme.sum(shape.dims(), true);
    grads.set(0, is_extreme * (shape.keep_dims(grad) / ties));
  }
};

// Ops that return values and where they were.
template <auto name>
struct SelectionBackward {
  static constexpr std::string_view kName = name();
  static constexpr std::size_t kDifferentiableOutputs = 1;
  SavedVariable indices;
  DimVector sizes;
  std::int64_t dim;
  bool keepdim;
  SelectionBackward(InputNeeds, const Tensor& self, std::int64_t d, bool keep)
      : sizes(self.sizes()), dim(wrap_dim(d, self.dim(), "aten::max")), keepdim(keep) {}
  SelectionBackward(InputNeeds, const Tensor& self, std::int64_t, std::int64_t d, bool, bool)
      : sizes(self.sizes()), dim(wrap_dim(d, self.dim(), "aten::topk")), keepdim(true) {}
  void save_result(const ValuesAndIndices& result) { indices = SavedVariable(std::get<1>(result)); }
  auto saved() { return std::tie(indices); }
  void operator()(Gradients& grads, const TensorVector& grad) {
    if (grad[0].defined()) grads.set(0, selecting_backward_op(grad[0], dim, grads.unpack(indices), sizes, keepdim));
  }
};
using MaxBackward0 = SelectionBackward<[] { return "MaxBackward0"; }>;
using MinBackward0 = SelectionBackward<[] { return "MinBackward0"; }>;
using TopkBackward0 = SelectionBackward<[] { return "TopkBackward0"; }>;

// Each element was added to all after it: total - running sum + itself.
struct CumsumBackward0 {
  static constexpr std::string_view kName = "CumsumBackward0";
  std::int64_t dim;
  CumsumBackward0(InputNeeds, const Tensor& self, std::int64_t d, OptionalType) : dim(wrap_dim(d, self.dim(), "aten::cumsum")) {}
  void operator()(Gradients& grads, const Tensor& grad) {
    if (grad.dim() == 0 || grad.numel() == 0) return grads.set(0, grad);
    grads.set(0, grad.sum({dim}, true) - grad.cumsum(dim) + grad);
  }
};

}  // namespace

Tensor max(const Tensor& self) { return max_op(self); }
Tensor min(const Tensor& self) { return min_op(self); }
ValuesAndIndices max(const Tensor& self, std::int64_t dim, bool keepdim) { return max_dim_op(self, dim, keepdim); }
ValuesAndIndices min(const Tensor& self, std::int64_t dim, bool keepdim) { return min_dim_op(self, dim, keepdim); }
Tensor amax(const Tensor& self, IntArrayRef dims, bool keepdim) { return amax_op(self, dims, keepdim); }
Tensor amin(const Tensor& self, IntArrayRef dims, bool keepdim) { return amin_op(self, dims, keepdim); }
Tensor argmax(const Tensor& self, OptionalDim dim, bool keepdim) { return argmax_op(self, dim, keepdim); }
Tensor argmin(const Tensor& self, OptionalDim dim, bool keepdim) { return argmin_op(self, dim, keepdim); }
ValuesAndIndices topk(const Tensor& self, std::int64_t k, std::int64_t dim, bool largest, bool sorted) {
  return topk_op(self, k, dim, largest, sorted);
}
Tensor cumsum(const Tensor& self, std::int64_t dim, OptionalType dtype) { return cumsum_op(self, dim, dtype); }

Tensor Tensor::max() const { return max_op(*this); }
Tensor Tensor::min() const { return min_op(*this); }
ValuesAndIndices Tensor::max(std::int64_t dim, bool keepdim) const { return max_dim_op(*this, dim, keepdim); }
ValuesAndIndices Tensor::min(std::int64_t dim, bool keepdim) const { return min_dim_op(*this, dim, keepdim); }
Tensor Tensor::argmax(OptionalDim dim, bool keepdim) const { return argmax_op(*this, dim, keepdim); }
Tensor Tensor::argmin(OptionalDim dim, bool keepdim) const { return argmin_op(*this, dim, keepdim); }
Tensor Tensor::cumsum(std::int64_t dim, OptionalType dtype) const { return cumsum_op(*this, dim, dtype); }

void register_extremum_ops(Library& library) {
  library.define<max_op>().kernel<total_extremum_kernel<true>>().autograd<ExtremumBackward<true, true>>();
  library.define<min_op>().kernel<total_extremum_kernel<false>>().autograd<ExtremumBackward<false, true>>();
  library.define<max_dim_op>().kernel<extremum_dim_kernel<true>>().autograd<MaxBackward0>();
  library.define<min_dim_op>().kernel<extremum_dim_kernel<false>>().autograd<MinBackward0>();
  library.define<amax_op>().kernel<extremum_kernel<true>>().autograd<ExtremumBackward<true, false>>();
  library.define<amin_op>().kernel<extremum_kernel<false>>().autograd<ExtremumBackward<false, false>>();
  library.define<argmax_op>().kernel<arg_extremum_kernel<true>>().not_differentiable();
  library.define<argmin_op>().kernel<arg_extremum_kernel<false>>().not_differentiable();
  library.define<topk_op>().kernel<topk_kernel>().autograd<TopkBackward0>();
  library.define<cumsum_op>().kernel<cumsum_kernel>().autograd<CumsumBackward0>();
  library.define<selecting_backward_op>().composite<selecting_backward_composite>();
}

}  // namespace mindtorch
