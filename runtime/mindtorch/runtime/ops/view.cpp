// Views: other shapes and orders of the same memory.
#include "mindtorch/runtime/ops/view.h"

#include <algorithm>

#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;

constinit Op<Tensor(const Tensor&, IntArrayRef)> view_op{"aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)"};
constinit Op<Tensor(const Tensor&, IntArrayRef)> unsafe_view_op{"aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor"};
constinit Op<Tensor(const Tensor&, IntArrayRef)> reshape_op{"aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)"};
constinit Op<Tensor(const Tensor&, std::int64_t, std::int64_t)> flatten_op{
    "aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)"};
constinit Op<Tensor(const Tensor&, IntArrayRef, bool)> expand_op{
    "aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)"};
constinit Op<Tensor(const Tensor&, IntArrayRef, IntArrayRef, std::optional<std::int64_t>)> as_strided_op{
    "aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)"};
constinit Op<Tensor(const Tensor&, std::int64_t, std::int64_t)> transpose_op{
    "aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)"};
constinit Op<Tensor(const Tensor&, IntArrayRef, IntArrayRef)> reshape_alias_op{
    "aten::_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)"};
constinit Op<Tensor(const Tensor&)> t_op{"aten::t(Tensor(a) self) -> Tensor(a)"};
constinit Op<Tensor(const Tensor&, IntArrayRef)> permute_op{"aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)"};
constinit Op<Tensor(const Tensor&)> squeeze_op{"aten::squeeze(Tensor(a) self) -> Tensor(a)"};
constinit Op<Tensor(const Tensor&, std::int64_t)> squeeze_dim_op{"aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)"};
constinit Op<Tensor(const Tensor&, std::int64_t)> unsqueeze_op{"aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)"};

// ---- kernels ----

Tensor view_kernel(const Tensor& self, IntArrayRef size) {
  const DimVector sizes = infer_size(size, self.numel(), "aten::view");
  const std::optional<DimVector> strides = view_strides(self.sizes(), self.strides(), sizes);
  if (!strides)
    throw_error("aten::view",
                "view size {} is not compatible with input tensor's size {} and stride {} (at least one dimension spans across two "
                "contiguous subspaces). "
                "Use .reshape(...) instead.",
                to_string(sizes), to_string(self.sizes()), to_string(self.strides()));
  return make_view(self, sizes, *strides);
}

Tensor unsafe_view_kernel(const Tensor& self, IntArrayRef size) {
  const Tensor result = view_kernel(self, size);
  result.impl()->forget_base();
  return result;
}

Tensor reshape_alias_kernel(const Tensor& self, IntArrayRef size, IntArrayRef stride) { return make_view(self, size, stride); }

Tensor reshape_composite(const Tensor& self, IntArrayRef shape) {
  const DimVector sizes = infer_size(shape, self.numel(), "aten::reshape");
  if (self.is_contiguous()) return view_op(self, sizes);
  if (const std::optional<DimVector> strides = view_strides(self.sizes(), self.strides(), sizes))
    return reshape_alias_op(self, sizes, *strides);
  return unsafe_view_op(self.contiguous(), sizes);
}

Tensor flatten_composite(const Tensor& self, std::int64_t start_dim, std::int64_t end_dim) {
  const std::int64_t first = wrap_dim(start_dim, self.dim(), "aten::flatten"), last = wrap_dim(end_dim, self.dim(), "aten::flatten");
  if (first > last)
    throw_error("aten::flatten", "flatten() has invalid args: start_dim cannot come after end_dim, got {} and {}", start_dim, end_dim);
  if (self.dim() == 0) return reshape_op(self, {1});
  if (first == last) return self;
  DimVector sizes;
  std::int64_t merged = 1;
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    if (d < first || d > last)
      sizes.push_back(self.sizes()[d]);
    else
      merged *= self.sizes()[d];
    if (d == last) sizes.push_back(merged);
  }
  return reshape_op(self, sizes);
}

Tensor expand_kernel(const Tensor& self, IntArrayRef size, bool) {
  const std::size_t added = size.size() - self.sizes().size();
  if (size.size() < self.sizes().size())
    throw_error("aten::expand", "the number of sizes provided ({}) must be greater or equal to the number of dimensions in the tensor ({})",
                size.size(), self.dim());
  DimVector sizes(size), strides(size.size());
  for (std::size_t i = 0; i < size.size(); ++i) {
    const std::int64_t own = i < added ? 1 : self.sizes()[i - added];
    if (size[i] == -1 && i >= added) sizes[i] = own;
    if (sizes[i] < 0 || (own != 1 && own != sizes[i]))
      throw_error(
          "aten::expand",
          "The expanded size of the tensor ({}) must match the existing size ({}) at non-singleton dimension {}.  Target sizes: {}.  "
          "Tensor sizes: {}",
          size[i], own, i, to_string(size), to_string(self.sizes()));
    strides[i] = own == 1 && sizes[i] != 1 ? 0 : i < added ? 0 : self.strides()[i - added];
  }
  return make_view(self, sizes, strides);
}

Tensor as_strided_kernel(const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<std::int64_t> offset) {
  if (size.size() != stride.size())
    throw_error("aten::as_strided", "mismatch in length of strides and shape: {} and {}", to_string(stride), to_string(size));
  if (std::any_of(stride.begin(), stride.end(), [](std::int64_t step) { return step < 0; }))
    throw_error("aten::as_strided", "Negative strides are not supported at the moment, got strides: {}", to_string(stride));
  return make_view(self, size, stride, offset.value_or(self.storage_offset()));
}

Tensor transpose_kernel(const Tensor& self, std::int64_t dim0, std::int64_t dim1) {
  const std::int64_t a = wrap_dim(dim0, self.dim(), "aten::transpose"), b = wrap_dim(dim1, self.dim(), "aten::transpose");
  DimVector sizes(self.sizes()), strides(self.strides());
  if (self.dim() != 0) {
    std::swap(sizes[a], sizes[b]);
    std::swap(strides[a], strides[b]);
  }
  return make_view(self, sizes, strides);
}

Tensor t_kernel(const Tensor& self) {
  if (self.dim() > 2) throw_error("aten::t", "t() expects a tensor with <= 2 dimensions, but self is {}D", self.dim());
  return transpose_op(self, 0, self.dim() < 2 ? 0 : 1);
}

Tensor permute_kernel(const Tensor& self, IntArrayRef dims) {
  if (static_cast<std::int64_t>(dims.size()) != self.dim())
    throw_error("aten::permute",
                "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of "
                "dimensions i.e. input.dim() = {} is not equal to len(dims) = {}",
                self.dim(), dims.size());
  DimVector sizes, strides;
  std::uint32_t seen = 0;
  for (const std::int64_t dim : dims) {
    const std::int64_t d = wrap_dim(dim, self.dim(), "aten::permute");
    if ((seen >> d & 1) != 0) throw_error("aten::permute", "permute(): duplicate dims are not allowed, got {}", to_string(dims));
    seen |= 1u << d;
    sizes.push_back(self.sizes()[d]);
    strides.push_back(self.strides()[d]);
  }
  return make_view(self, sizes, strides);
}

Tensor squeeze_kernel(const Tensor& self) {
  DimVector sizes, strides;
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    if (self.sizes()[d] == 1) continue;
    sizes.push_back(self.sizes()[d]);
    strides.push_back(self.strides()[d]);
  }
  return make_view(self, sizes, strides);
}

Tensor squeeze_dim_kernel(const Tensor& self, std::int64_t dim) {
  const std::int64_t d = wrap_dim(dim, self.dim(), "aten::squeeze");
  DimVector sizes(self.sizes()), strides(self.strides());
  if (self.dim() != 0 && sizes[d] == 1) {
    sizes.erase(d);
    strides.erase(d);
  }
  return make_view(self, sizes, strides);
}

Tensor unsqueeze_kernel(const Tensor& self, std::int64_t dim) {
  const std::int64_t d = wrap_dim(dim, self.dim() + 1, "aten::unsqueeze");
  DimVector sizes(self.sizes()), strides(self.strides());
  strides.insert(d, d < self.dim() ? sizes[d] * strides[d] : 1);
  sizes.insert(d, 1);
  return make_view(self, sizes, strides);
}

// ---- derivatives ----

struct ReshapeFormula {
  DimVector sizes;
  template <class... Rest>
  ReshapeFormula(InputNeeds, const Tensor& self, const Rest&...) : sizes(self.sizes()) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, grad.reshape(sizes)); }
};
struct ViewBackward0 : ReshapeFormula {
  static constexpr std::string_view kName = "ViewBackward0";
  using ReshapeFormula::ReshapeFormula;
};
struct ReshapeAliasBackward0 : ReshapeFormula {
  static constexpr std::string_view kName = "ReshapeAliasBackward0";
  using ReshapeFormula::ReshapeFormula;
};
struct UnsafeViewBackward0 : ReshapeFormula {
  static constexpr std::string_view kName = "UnsafeViewBackward0";
  using ReshapeFormula::ReshapeFormula;
};
struct SqueezeBackward0 : ReshapeFormula {
  static constexpr std::string_view kName = "SqueezeBackward0";
  using ReshapeFormula::ReshapeFormula;
};
struct SqueezeBackward1 : ReshapeFormula {
  static constexpr std::string_view kName = "SqueezeBackward1";
  using ReshapeFormula::ReshapeFormula;
};

struct ExpandBackward0 {
  static constexpr std::string_view kName = "ExpandBackward0";
  DimVector sizes;
  ExpandBackward0(InputNeeds, const Tensor& self, IntArrayRef, bool) : sizes(self.sizes()) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, sum_to(grad, sizes)); }
};

struct TransposeBackward0 {
  static constexpr std::string_view kName = "TransposeBackward0";
  std::int64_t dim0, dim1;
  TransposeBackward0(InputNeeds, const Tensor&, std::int64_t a, std::int64_t b) : dim0(a), dim1(b) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, grad.transpose(dim0, dim1)); }
};

struct TBackward0 {
  static constexpr std::string_view kName = "TBackward0";
  TBackward0(InputNeeds, const Tensor&) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, grad.t()); }
};

struct PermuteBackward0 {
  static constexpr std::string_view kName = "PermuteBackward0";
  DimVector inverse;
  PermuteBackward0(InputNeeds, const Tensor& self, IntArrayRef dims) : inverse(dims.size()) {
    for (std::size_t i = 0; i < dims.size(); ++i) inverse[wrap_dim(dims[i], self.dim(), "aten::permute")] = static_cast<std::int64_t>(i);
  }
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, grad.permute(inverse)); }
};

struct UnsqueezeBackward0 {
  static constexpr std::string_view kName = "UnsqueezeBackward0";
  std::int64_t dim;
  UnsqueezeBackward0(InputNeeds, const Tensor& self, std::int64_t d) : dim(wrap_dim(d, self.dim() + 1, "aten::unsqueeze")) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, grad.squeeze(dim)); }
};

// The gradient lands in a zero tensor with the memory layout of the input, through the same geometry.
struct AsStridedBackward0 {
  static constexpr std::string_view kName = "AsStridedBackward0";
  DimVector self_sizes, self_strides, sizes, strides;
  std::int64_t offset;  // from the first element of self
  AsStridedBackward0(InputNeeds, const Tensor& self, IntArrayRef size, IntArrayRef stride, std::optional<std::int64_t> at)
      : self_sizes(self.sizes()),
        self_strides(self.strides()),
        sizes(size),
        strides(stride),
        offset(at ? *at - self.storage_offset() : 0) {}
  void operator()(Gradients& grads, const Tensor& grad) {
    if (!may_overlap(sizes, strides)) {
      Tensor whole = empty_strided(self_sizes, self_strides, grad.options()).zero_();
      whole.as_strided(sizes, strides, offset).copy_(grad);
      return grads.set(0, whole);
    }
    // An element that was read several times gets the sum of its gradients.
    const std::int64_t span = std::max(extent(self_sizes, self_strides), offset + extent(sizes, strides));
    const Tensor places = arange(span, {.device = grad.device()}).as_strided(sizes, strides, offset).reshape({-1});
    const Tensor memory = index_add(zeros({span}, grad.options()), 0, places, grad.reshape({-1}));
    grads.set(0, memory.as_strided(self_sizes, self_strides, 0));
  }
  // Elements between the first and the last, both included.
  static std::int64_t extent(IntArrayRef shape, IntArrayRef steps) {
    std::int64_t last = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) last += (shape[i] - 1) * steps[i];
    return last + 1;
  }
};

}  // namespace

Tensor reshape(const Tensor& self, IntArrayRef sizes) { return reshape_op(self, sizes); }
Tensor transpose(const Tensor& self, std::int64_t dim0, std::int64_t dim1) { return transpose_op(self, dim0, dim1); }
Tensor permute(const Tensor& self, IntArrayRef dims) { return permute_op(self, dims); }
Tensor squeeze(const Tensor& self) { return squeeze_op(self); }
Tensor squeeze(const Tensor& self, std::int64_t dim) { return squeeze_dim_op(self, dim); }
Tensor unsqueeze(const Tensor& self, std::int64_t dim) { return unsqueeze_op(self, dim); }
Tensor flatten(const Tensor& self, std::int64_t start_dim, std::int64_t end_dim) { return flatten_op(self, start_dim, end_dim); }
Tensor unsafe_view(const Tensor& self, IntArrayRef sizes) { return unsafe_view_op(self, sizes); }

Tensor sum_to(const Tensor& grad, IntArrayRef sizes) {
  const std::size_t added = grad.sizes().size() - sizes.size();
  DimVector dims;
  for (std::size_t i = 0; i < grad.sizes().size(); ++i)
    if (i < added || (sizes[i - added] == 1 && grad.sizes()[i] != 1)) dims.push_back(static_cast<std::int64_t>(i));
  if (dims.empty()) return grad;
  const Tensor sum = grad.sum(dims, true);
  return added == 0 ? sum : sum.view(sizes);
}

Tensor Tensor::view(IntArrayRef sizes) const { return view_op(*this, sizes); }
Tensor Tensor::reshape(IntArrayRef sizes) const { return reshape_op(*this, sizes); }
Tensor Tensor::flatten(std::int64_t start_dim, std::int64_t end_dim) const { return flatten_op(*this, start_dim, end_dim); }
Tensor Tensor::expand(IntArrayRef sizes) const { return expand_op(*this, sizes, false); }
Tensor Tensor::expand_as(const Tensor& other) const { return expand_op(*this, other.sizes(), false); }
Tensor Tensor::as_strided(IntArrayRef sizes, IntArrayRef strides, std::optional<std::int64_t> offset) const {
  return as_strided_op(*this, sizes, strides, offset);
}
Tensor Tensor::transpose(std::int64_t dim0, std::int64_t dim1) const { return transpose_op(*this, dim0, dim1); }
Tensor Tensor::t() const { return t_op(*this); }
Tensor Tensor::permute(IntArrayRef dims) const { return permute_op(*this, dims); }
Tensor Tensor::squeeze() const { return squeeze_op(*this); }
Tensor Tensor::squeeze(std::int64_t dim) const { return squeeze_dim_op(*this, dim); }
Tensor Tensor::unsqueeze(std::int64_t dim) const { return unsqueeze_op(*this, dim); }

void register_view_ops(Library& library) {
  library.define<view_op>().kernel<view_kernel>().autograd<ViewBackward0>();
  library.define<unsafe_view_op>().kernel<unsafe_view_kernel>().autograd<UnsafeViewBackward0>();
  library.define<reshape_alias_op>().kernel<reshape_alias_kernel>().autograd<ReshapeAliasBackward0>();
  library.define<reshape_op>().composite<reshape_composite>();
  library.define<flatten_op>().composite<flatten_composite>();
  library.define<expand_op>().kernel<expand_kernel>().autograd<ExpandBackward0>();
  library.define<as_strided_op>().kernel<as_strided_kernel>().autograd<AsStridedBackward0>();
  library.define<transpose_op>().kernel<transpose_kernel>().autograd<TransposeBackward0>();
  library.define<t_op>().kernel<t_kernel>().autograd<TBackward0>();
  library.define<permute_op>().kernel<permute_kernel>().autograd<PermuteBackward0>();
  library.define<squeeze_op>().kernel<squeeze_kernel>().autograd<SqueezeBackward0>();
  library.define<squeeze_dim_op>().kernel<squeeze_dim_kernel>().autograd<SqueezeBackward1>();
  library.define<unsqueeze_op>().kernel<unsqueeze_kernel>().autograd<UnsqueezeBackward0>();
}

}  // namespace mindtorch
