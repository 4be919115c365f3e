// Elements chosen by an index: index_select, gather, scatter, index_add, triangles.
#include "mindtorch/runtime/ops/indexing.h"

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
using IndexedWrite = Tensor(const Tensor&, std::int64_t, const Tensor&, const Tensor&);
using IndexedAdd = Tensor(const Tensor&, std::int64_t, const Tensor&, const Tensor&, const Scalar&);

constinit Op<Tensor(const Tensor&, std::int64_t, const Tensor&)> index_select_op{
    "aten::index_select(Tensor self, int dim, Tensor index) -> Tensor"};
constinit Op<Tensor(const Tensor&, IntArrayRef, std::int64_t, const Tensor&)> index_select_backward_op{
    "aten::index_select_backward(Tensor grad, SymInt[] self_sizes, int dim, Tensor index) -> Tensor"};
constinit Op<Tensor(const Tensor&, std::int64_t, const Tensor&, bool)> gather_op{
    "aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor"};
constinit Op<Tensor(const Tensor&, const Tensor&, std::int64_t, const Tensor&, bool)> gather_backward_op{
    "aten::gather_backward(Tensor grad, Tensor self, int dim, Tensor index, bool sparse_grad) -> Tensor"};
constinit Op<IndexedWrite> scatter_op{"aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor"};
constinit Op<IndexedWrite> scatter__op{"aten::scatter_.src(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)"};
constinit Op<IndexedWrite> scatter_add_op{"aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor"};
constinit Op<IndexedWrite> scatter_add__op{"aten::scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)"};
constinit Op<IndexedAdd> index_add_op{"aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor"};
constinit Op<IndexedAdd> index_add__op{
    "aten::index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor(a!)"};
constinit Op<Tensor(const Tensor&, std::int64_t)> tril_op{"aten::tril(Tensor self, SymInt diagonal=0) -> Tensor"};
constinit Op<Tensor(const Tensor&, std::int64_t)> triu_op{"aten::triu(Tensor self, SymInt diagonal=0) -> Tensor"};

// ---- kernels ----

Tensor checked_index(const Tensor& index, const Tensor& self, const char* op) {
  if (index.dtype() != kInt64 && index.dtype() != kInt32)
    throw_error(op, "Expected dtype int32/int64 for index, got {}", scalar_type_title(index.dtype()));
  common_device({&self, &index}, op);
  return index.dtype() == kInt64 ? index : index.to(kInt64);
}

cpu::Axis axis_of(const Tensor& self, std::int64_t dim) {
  cpu::Axis axis{1, self.dim() == 0 ? 1 : self.sizes()[dim], 1};
  for (std::int64_t d = 0; d < dim; ++d) axis.outer *= self.sizes()[d];
  for (std::int64_t d = dim + 1; d < self.dim(); ++d) axis.inner *= self.sizes()[d];
  return axis;
}

Tensor index_select_kernel(const Tensor& self, std::int64_t dim, const Tensor& index) {
  const std::int64_t d = wrap_dim(dim, self.dim(), "aten::index_select");
  if (index.dim() > 1) throw_error<OutOfRange>("aten::index_select", "Index is supposed to be a vector, got {}", to_string(index.sizes()));
  const Tensor at = checked_index(index, self, "aten::index_select").contiguous(), input = self.contiguous();
  DimVector sizes(self.sizes());
  if (!sizes.empty()) sizes[d] = at.numel();
  const Tensor out = new_tensor(sizes, self.dtype(), self.device());
  launch(self.device(), "index_select", cpu::index_select, self.dtype(), out.data_ptr(), input.data_ptr(), at.data_ptr<std::int64_t>(),
         at.numel(), axis_of(self, d));
  return out;
}

Tensor index_select_backward_composite(const Tensor& grad, IntArrayRef sizes, std::int64_t dim, const Tensor& index) {
  return index_add_op(zeros(sizes, grad.options()), dim, index, grad, 1);
}

Tensor index_add__kernel(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  const std::int64_t d = wrap_dim(dim, self.dim(), "aten::index_add_");
  const Tensor at = checked_index(index, self, "aten::index_add_").contiguous();
  if (source.dtype() != self.dtype())
    throw_error("aten::index_add_", "self ({}) and source ({}) must have the same scalar type", scalar_type_title(self.dtype()),
                scalar_type_title(source.dtype()));
  DimVector expected(self.sizes());
  if (!expected.empty()) expected[d] = at.numel();
  if (source.sizes() != IntArrayRef(expected))
    throw_error("aten::index_add_", "source has sizes {}, expected {} for {} indices of dimension {}", to_string(source.sizes()),
                to_string(expected), at.numel(), d);
  check_writable(self, "aten::index_add_");
  const Tensor from = source.contiguous(), out = self.contiguous();
  launch(self.device(), "index_add_", cpu::index_add, self.dtype(), out.data_ptr(), from.data_ptr(), at.data_ptr<std::int64_t>(),
         at.numel(), axis_of(self, d), alpha);
  return out.is_same(self) ? self : self.copy_(out);
}

Tensor index_add_kernel(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  return index_add__kernel(self.clone(), dim, index, source, alpha);
}

// The part of `indexed` that an index of these sizes can reach, standing still along the indexed dimension.
Tensor anchored(const Tensor& indexed, IntArrayRef index_sizes, std::int64_t dim, const char* op) {
  if (indexed.sizes().size() != index_sizes.size() && !(indexed.dim() <= 1 && index_sizes.size() <= 1))
    throw_error(op, "Index tensor must have the same number of dimensions as input tensor, got {} and {}", to_string(index_sizes),
                to_string(indexed.sizes()));
  DimVector strides(index_sizes.size());
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(index_sizes.size()); ++d) {
    if (d == dim || indexed.dim() == 0) continue;
    if (index_sizes[d] > indexed.sizes()[d])
      throw_error(op, "Size does not match at dimension {} expected index {} to be no larger than self {} apart from dimension {}", d,
                  to_string(index_sizes), to_string(indexed.sizes()), dim);
    strides[d] = indexed.strides()[d];
  }
  return checked_numel(index_sizes) == 0 ? indexed : make_view(indexed, index_sizes, strides);
}

cpu::IndexedDim indexed_dim(const Tensor& indexed, std::int64_t dim) {
  if (indexed.dim() == 0) return {1, 0, 0};
  return {indexed.sizes()[dim], indexed.strides()[dim] * static_cast<std::int64_t>(indexed.element_size()), dim};
}

Tensor gather_kernel(const Tensor& self, std::int64_t dim, const Tensor& index, bool) {
  const std::int64_t d = wrap_dim(dim, self.dim(), "aten::gather");
  const Tensor at = checked_index(index, self, "aten::gather");
  const Tensor source = anchored(self, index.sizes(), d, "aten::gather");
  const Tensor out = new_tensor(index.sizes(), self.dtype(), self.device());
  if (out.numel() == 0) return out;
  launch(self.device(), "gather", cpu::gather, self.dtype(),
         make_loop_plan<3>(out.sizes(), {LoopOperand{&out}, LoopOperand{&at}, LoopOperand{&source}}), indexed_dim(self, d));
  return out;
}

Tensor gather_backward_composite(const Tensor& grad, const Tensor& self, std::int64_t dim, const Tensor& index, bool) {
  return scatter_add_op(zeros(self.sizes(), grad.options()), dim, index, grad);
}

template <bool adds>
Tensor scatter__kernel(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) {
  constexpr const char* kOp = adds ? "aten::scatter_add_" : "aten::scatter_";
  const std::int64_t d = wrap_dim(dim, self.dim(), kOp);
  if (src.dtype() != self.dtype())
    throw_error(kOp, "Expected self.dtype to be equal to src.dtype, got {} and {}", scalar_type_title(self.dtype()),
                scalar_type_title(src.dtype()));
  const Tensor at = checked_index(index, self, kOp);
  check_writable(self, kOp);
  if (index.numel() == 0) return self;
  const Tensor target = anchored(self, index.sizes(), d, kOp);
  for (std::int64_t i = 0; i < index.dim() && src.dim() != 0; ++i)
    if (index.sizes()[i] > src.sizes()[i])
      throw_error(kOp, "Expected index {} to be no larger than src {} in dimension {}", to_string(index.sizes()), to_string(src.sizes()),
                  i);
  const Tensor from = src.dim() == 0 ? src : make_view(src, index.sizes(), src.strides());
  launch(self.device(), kOp + 6, adds ? cpu::scatter_add : cpu::scatter, self.dtype(),
         make_loop_plan<3>(index.sizes(), {LoopOperand{&target}, LoopOperand{&at}, LoopOperand{&from}}), indexed_dim(self, d));
  return self;
}

template <bool adds>
Tensor scatter_kernel(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) {
  return scatter__kernel<adds>(self.clone(), dim, index, src);
}

template <bool lower>
Tensor triangle_kernel(const Tensor& self, std::int64_t diagonal) {
  constexpr const char* kOp = lower ? "aten::tril" : "aten::triu";
  if (self.dim() < 2) throw_error(kOp, "input tensor must have at least 2 dimensions, got {}", to_string(self.sizes()));
  const Tensor input = self.contiguous(), out = new_tensor(self.sizes(), self.dtype(), self.device());
  const std::int64_t rows = self.size(-2), columns = self.size(-1);
  if (out.numel() == 0) return out;
  launch(self.device(), kOp + 6, cpu::triangle, self.dtype(), out.data_ptr(), input.data_ptr(), self.numel() / (rows * columns), rows,
         columns, diagonal, lower);
  return out;
}

// ---- derivatives ----

struct IndexSelectBackward0 {
  static constexpr std::string_view kName = "IndexSelectBackward0";
  SavedVariable index;
  DimVector sizes;
  std::int64_t dim;
  IndexSelectBackward0(InputNeeds, const Tensor& self, std::int64_t d, const Tensor& at) : index(at), sizes(self.sizes()), dim(d) {}
  auto saved() { return std::tie(index); }
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, index_select_backward_op(grad, sizes, dim, grads.unpack(index))); }
};

struct GatherBackward0 {
  static constexpr std::string_view kName = "GatherBackward0";
  SavedVariable self, index;
  std::int64_t dim;
  GatherBackward0(InputNeeds, const Tensor& x, std::int64_t d, const Tensor& at, bool) : self(x), index(at), dim(d) {}
  auto saved() { return std::tie(self, index); }
  void operator()(Gradients& grads, const Tensor& grad) {
    grads.set(0, gather_backward_op(grad, grads.unpack(self), dim, grads.unpack(index), false));
  }
};

// Written elements pass their gradient to the source and not to self.
struct ScatterBackward0 {
  static constexpr std::string_view kName = "ScatterBackward0";
  SavedVariable index;
  std::int64_t dim;
  DimVector src_sizes;
  ScatterBackward0(InputNeeds, const Tensor&, std::int64_t d, const Tensor& at, const Tensor& src)
      : index(at), dim(d), src_sizes(src.sizes()) {}
  auto saved() { return std::tie(index); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const Tensor at = grads.unpack(index);
    if (grads.needs(0)) grads.set(0, scatter(grad, dim, at, zeros(at.sizes(), grad.options())));
    if (grads.needs(2)) grads.set(2, source_gradient(grad, dim, at, src_sizes));
  }
  // The index may be smaller than the source; what it does not reach has no gradient.
  static Tensor source_gradient(const Tensor& grad, std::int64_t dim, const Tensor& at, IntArrayRef sizes) {
    Tensor taken = grad.gather(dim, at);
    if (taken.sizes() == sizes) return taken;
    Tensor result = zeros(sizes, grad.options());
    Tensor part = result;
    for (std::int64_t d = 0; d < at.dim(); ++d) part = part.narrow(d, 0, at.sizes()[d]);
    part.copy_(taken);
    return result;
  }
};

struct ScatterAddBackward0 {
  static constexpr std::string_view kName = "ScatterAddBackward0";
  SavedVariable index;
  std::int64_t dim;
  DimVector src_sizes;
  ScatterAddBackward0(InputNeeds, const Tensor&, std::int64_t d, const Tensor& at, const Tensor& src)
      : index(at), dim(d), src_sizes(src.sizes()) {}
  auto saved() { return std::tie(index); }
  void operator()(Gradients& grads, const Tensor& grad) {
    if (grads.needs(0)) grads.set(0, grad);
    if (grads.needs(2)) grads.set(2, ScatterBackward0::source_gradient(grad, dim, grads.unpack(index), src_sizes));
  }
};

struct IndexAddBackward0 {
  static constexpr std::string_view kName = "IndexAddBackward0";
  SavedVariable index;
  std::int64_t dim;
  Scalar alpha;
  IndexAddBackward0(InputNeeds, const Tensor&, std::int64_t d, const Tensor& at, const Tensor&, const Scalar& factor)
      : index(at), dim(d), alpha(factor) {}
  auto saved() { return std::tie(index); }
  void operator()(Gradients& grads, const Tensor& grad) {
    if (grads.needs(0)) grads.set(0, grad);
    if (grads.needs(2)) {
      const Tensor taken = grad.index_select(dim, grads.unpack(index));
      grads.set(2, alpha.equals(1) ? taken : taken * alpha);
    }
  }
};

template <bool lower>
struct TriangleBackward {
  static constexpr std::string_view kName = lower ? "TrilBackward0" : "TriuBackward0";
  std::int64_t diagonal;
  TriangleBackward(InputNeeds, const Tensor&, std::int64_t d) : diagonal(d) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, lower ? tril(grad, diagonal) : triu(grad, diagonal)); }
};

}  // namespace

Tensor index_select(const Tensor& self, std::int64_t dim, const Tensor& index) { return index_select_op(self, dim, index); }
Tensor index_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) {
  return index_add_op(self, dim, index, source, alpha);
}
Tensor gather(const Tensor& self, std::int64_t dim, const Tensor& index) { return gather_op(self, dim, index, false); }
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) { return scatter_op(self, dim, index, src); }
Tensor scatter_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src) {
  return scatter_add_op(self, dim, index, src);
}
Tensor tril(const Tensor& self, std::int64_t diagonal) { return tril_op(self, diagonal); }
Tensor triu(const Tensor& self, std::int64_t diagonal) { return triu_op(self, diagonal); }

Tensor Tensor::index_select(std::int64_t dim, const Tensor& index) const { return index_select_op(*this, dim, index); }
Tensor Tensor::gather(std::int64_t dim, const Tensor& index) const { return gather_op(*this, dim, index, false); }
Tensor Tensor::scatter_(std::int64_t dim, const Tensor& index, const Tensor& src) const { return scatter__op(*this, dim, index, src); }
Tensor Tensor::scatter_add_(std::int64_t dim, const Tensor& index, const Tensor& src) const {
  return scatter_add__op(*this, dim, index, src);
}
Tensor Tensor::index_add_(std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha) const {
  return index_add__op(*this, dim, index, source, alpha);
}
Tensor Tensor::tril(std::int64_t diagonal) const { return tril_op(*this, diagonal); }
Tensor Tensor::triu(std::int64_t diagonal) const { return triu_op(*this, diagonal); }

void register_indexing_ops(Library& library) {
  library.define<index_select_op>().kernel<index_select_kernel>().autograd<IndexSelectBackward0>();
  library.define<index_select_backward_op>().composite<index_select_backward_composite>();
  library.define<gather_op>().kernel<gather_kernel>().autograd<GatherBackward0>();
  library.define<gather_backward_op>().composite<gather_backward_composite>();
  library.define<scatter_op>().kernel<scatter_kernel<false>>().autograd<ScatterBackward0>();
  library.define<scatter__op>().kernel<scatter__kernel<false>>().autograd<ScatterBackward0>();
  library.define<scatter_add_op>().kernel<scatter_kernel<true>>().autograd<ScatterAddBackward0>();
  library.define<scatter_add__op>().kernel<scatter__kernel<true>>().autograd<ScatterAddBackward0>();
  library.define<index_add_op>().kernel<index_add_kernel>().autograd<IndexAddBackward0>();
  library.define<index_add__op>().kernel<index_add__kernel>().autograd<IndexAddBackward0>();
  library.define<tril_op>().kernel<triangle_kernel<true>>().autograd<TriangleBackward<true>>();
  library.define<triu_op>().kernel<triangle_kernel<false>>().autograd<TriangleBackward<false>>();
}

}  // namespace mindtorch
