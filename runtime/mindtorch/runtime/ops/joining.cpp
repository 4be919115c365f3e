// Putting tensors together and taking them apart.
#include "mindtorch/runtime/ops/joining.h"

#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"
#include "mindtorch/runtime/kernels/cpu/copy.h"
#include "mindtorch/runtime/launch.h"
#include "mindtorch/runtime/pointwise.h"
#include "mindtorch/runtime/type_promotion.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;

constinit Op<Tensor(TensorList, std::int64_t)> cat_op{"aten::cat(Tensor[] tensors, int dim=0) -> Tensor"};
constinit Op<Tensor(TensorList, std::int64_t)> stack_op{"aten::stack(Tensor[] tensors, int dim=0) -> Tensor"};
constinit Op<TensorVector(const Tensor&, std::int64_t, std::int64_t)> split_op{
    "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]"};
constinit Op<TensorVector(const Tensor&, IntArrayRef, std::int64_t)> split_with_sizes_op{
    "aten::split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]"};
constinit Op<TensorVector(const Tensor&, std::int64_t, std::int64_t)> chunk_op{
    "aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]"};
constinit Op<TensorVector(const Tensor&, std::int64_t)> unbind_op{"aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]"};
constinit Op<Tensor(const Tensor&, IntArrayRef)> repeat_op{"aten::repeat(Tensor self, SymInt[] repeats) -> Tensor"};

// ---- kernels ----

Tensor part_of(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length) {
  DimVector sizes(self.sizes());
  sizes[dim] = length;
  return make_view(self, sizes, self.strides(), self.storage_offset() + start * self.strides()[dim]);
}

// A tensor of sizes [0] may stand for nothing, whatever the shape of the others.
bool is_nothing(const Tensor& tensor) { return tensor.dim() == 1 && tensor.sizes()[0] == 0; }

// Sizes of the joined tensor. Throws if the tensors do not agree in the other dimensions.
DimVector joined_sizes(TensorList tensors, std::int64_t dim, const Tensor& first) {
  DimVector sizes(first.sizes());
  sizes[dim] = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (is_nothing(tensors[i]) && !is_nothing(first)) continue;
    if (tensors[i].dim() != first.dim())
      throw_error("aten::cat", "Tensors must have same number of dimensions: got {} and {}", first.dim(), tensors[i].dim());
    for (std::int64_t d = 0; d < first.dim(); ++d)
      if (d != dim && tensors[i].sizes()[d] != first.sizes()[d])
        throw_error(
            "aten::cat",
            "Sizes of tensors must match except in dimension {}. Expected size {} but got size {} for tensor number {} in the list.", dim,
            first.sizes()[d], tensors[i].sizes()[d], i);
    sizes[dim] += tensors[i].sizes()[dim];
  }
  return sizes;
}

Tensor cat_kernel(TensorList tensors, std::int64_t dim) {
  if (tensors.empty()) throw_error<InvalidArgument>("aten::cat", "expected a non-empty list of Tensors");
  const Tensor* first = &tensors[0];
  for (const Tensor& tensor : tensors) {
    if (tensor.dim() == 0) throw_error("aten::cat", "zero-dimensional tensor cannot be concatenated");
    common_device({&tensors[0], &tensor}, "aten::cat");
    if (is_nothing(*first)) first = &tensor;
  }
  const std::int64_t d = wrap_dim(dim, first->dim(), "aten::cat");
  const Tensor out = new_tensor(joined_sizes(tensors, d, *first), result_type(tensors), first->device());
  std::int64_t start = 0;
  for (const Tensor& tensor : tensors) {
    if (tensor.numel() == 0) continue;
    const Tensor target = part_of(out, d, start, tensor.sizes()[d]);
    launch(out.device(), "cat", cpu::copy, out.dtype(), tensor.dtype(),
           make_loop_plan<2>(target.sizes(), {LoopOperand{&target}, LoopOperand{&tensor}}));
    start += tensor.sizes()[d];
  }
  return out;
}

Tensor stack_kernel(TensorList tensors, std::int64_t dim) {
  if (tensors.empty()) throw_error("aten::stack", "stack expects a non-empty TensorList");
  const std::int64_t d = wrap_dim(dim, tensors[0].dim() + 1, "aten::stack");
  TensorVector widened;
  for (const Tensor& tensor : tensors) {
    if (tensor.sizes() != tensors[0].sizes())
      throw_error("aten::stack", "stack expects each tensor to be equal size, but got {} at entry 0 and {} at entry {}",
                  to_string(tensors[0].sizes()), to_string(tensor.sizes()), widened.size());
    DimVector sizes(tensor.sizes()), strides(tensor.strides());
    sizes.insert(d, 1);
    strides.insert(d, 1);
    widened.push_back(make_view(tensor, sizes, strides));
  }
  return cat_op(widened, d);
}

TensorVector split_with_sizes_kernel(const Tensor& self, IntArrayRef split_sizes, std::int64_t dim) {
  if (self.dim() == 0) throw_error("aten::split_with_sizes", "split expects at least a 1-dimensional tensor");
  const std::int64_t d = wrap_dim(dim, self.dim(), "aten::split_with_sizes");
  TensorVector parts;
  std::int64_t start = 0;
  for (const std::int64_t size : split_sizes) {
    if (size < 0 || start + size > self.sizes()[d]) start = self.sizes()[d] + 1;
    if (start > self.sizes()[d]) break;
    parts.push_back(part_of(self, d, start, size));
    start += size;
  }
  if (start != self.sizes()[d])
    throw_error("aten::split_with_sizes",
                "split_with_sizes expects split_sizes to sum exactly to {} (input tensor's size at dimension {}), but got split_sizes={}",
                self.sizes()[d], d, to_string(split_sizes));
  return parts;
}

TensorVector split_kernel(const Tensor& self, std::int64_t split_size, std::int64_t dim) {
  if (self.dim() == 0) throw_error("aten::split", "split expects at least a 1-dimensional tensor");
  if (split_size < 0) throw_error("aten::split", "split expects split_size be non-negative, but got split_size={}", split_size);
  const std::int64_t d = wrap_dim(dim, self.dim(), "aten::split"), size = self.sizes()[d];
  if (split_size == 0 && size != 0)
    throw_error("aten::split", "split_size can only be 0 if dimension size is 0, but got dimension size of {}", size);
  TensorVector parts;
  for (std::int64_t start = 0; start < size || parts.empty(); start += split_size)
    parts.push_back(part_of(self, d, start, std::min(split_size, size - start)));
  return parts;
}

TensorVector chunk_composite(const Tensor& self, std::int64_t chunks, std::int64_t dim) {
  if (chunks <= 0) throw_error("aten::chunk", "chunk expects `chunks` to be greater than 0, got: {}", chunks);
  if (self.dim() == 0) throw_error("aten::chunk", "chunk expects at least a 1-dimensional tensor");
  const std::int64_t size = self.size(dim), split_size = (size + chunks - 1) / chunks;
  if (split_size == 0) return split_with_sizes_op(self, DimVector(static_cast<std::size_t>(chunks), 0), dim);
  return split_op(self, split_size, dim);
}

TensorVector unbind_kernel(const Tensor& self, std::int64_t dim) {
  if (self.dim() == 0) throw_error<OutOfRange>("aten::unbind", "Dimension specified as {} but tensor has no dimensions", dim);
  const std::int64_t d = wrap_dim(dim, self.dim(), "aten::unbind");
  DimVector sizes(self.sizes()), strides(self.strides());
  sizes.erase(d);
  strides.erase(d);
  TensorVector parts;
  for (std::int64_t i = 0; i < self.sizes()[d]; ++i)
    parts.push_back(make_view(self, sizes, strides, self.storage_offset() + i * self.strides()[d]));
  return parts;
}

// Seen as [r0, s0, r1, s1, ...], the result is the input expanded along the r's.
Tensor repeat_kernel(const Tensor& self, IntArrayRef repeats) {
  const std::int64_t added = static_cast<std::int64_t>(repeats.size()) - self.dim();
  if (added < 0)
    throw_error("aten::repeat", "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor: {} and {}",
                to_string(repeats), to_string(self.sizes()));
  DimVector sizes, from_sizes, from_strides;
  for (std::int64_t d = 0; d < static_cast<std::int64_t>(repeats.size()); ++d) {
    if (repeats[d] < 0) throw_error("aten::repeat", "Trying to create tensor with negative dimension: {}", to_string(repeats));
    const std::int64_t size = d < added ? 1 : self.sizes()[d - added];
    sizes.push_back(repeats[d] * size);
    from_sizes.push_back(repeats[d]);
    from_sizes.push_back(size);
    from_strides.push_back(0);
    from_strides.push_back(d < added ? 0 : self.strides()[d - added]);
  }
  const Tensor out = new_tensor(sizes, self.dtype(), self.device());
  if (out.numel() != 0) make_dense_view(out, from_sizes).copy_(make_view(self, from_sizes, from_strides));
  return out;
}

// ---- derivatives ----

struct CatBackward0 {
  static constexpr std::string_view kName = "CatBackward0";
  std::int64_t dim = 0;
  std::vector<DimVector> sizes;
  CatBackward0(InputNeeds, TensorList tensors, std::int64_t d) {
    for (const Tensor& tensor : tensors) {
      sizes.emplace_back(tensor.sizes());
      if (!is_nothing(tensor) || sizes.size() == 1) dim = wrap_dim(d, tensor.dim(), "aten::cat");
    }
  }
  void operator()(Gradients& grads, const Tensor& grad) {
    std::int64_t start = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const bool counts = static_cast<std::int64_t>(sizes[i].size()) == grad.dim();
      const std::int64_t length = counts ? sizes[i][dim] : 0;
      if (grads.needs(i)) grads.set(i, counts ? grad.narrow(dim, start, length) : zeros(sizes[i], grad.options()));
      start += length;
    }
  }
};

struct StackBackward0 {
  static constexpr std::string_view kName = "StackBackward0";
  std::int64_t dim;
  StackBackward0(InputNeeds, TensorList tensors, std::int64_t d) : dim(wrap_dim(d, tensors[0].dim() + 1, "aten::stack")) {}
  void operator()(Gradients& grads, const Tensor& grad) {
    const TensorVector parts = grad.unbind(dim);
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (grads.needs(i)) grads.set(i, parts[i]);
  }
};

// Parts without a gradient count as zero.
struct PartsBackward {
  DimVector sizes;
  std::int64_t dim;
  TensorOptions options;
  std::vector<DimVector> part_sizes;
  template <class How>
  PartsBackward(InputNeeds, const Tensor& self, const How&, std::int64_t d)
      : sizes(self.sizes()), dim(wrap_dim(d, self.dim(), "aten::split")), options(self.options()) {}
  PartsBackward(InputNeeds, const Tensor& self, std::int64_t d)
      : sizes(self.sizes()), dim(wrap_dim(d, self.dim(), "aten::unbind")), options(self.options()) {}
  void save_result(const TensorVector& parts) {
    for (const Tensor& part : parts) part_sizes.emplace_back(part.sizes());
  }
  TensorVector filled(const TensorVector& grads) const {
    TensorVector result(grads);
    for (std::size_t i = 0; i < result.size(); ++i)
      if (!result[i].defined()) result[i] = zeros(part_sizes[i], options);
    return result;
  }
};
struct SplitBackward0 : PartsBackward {
  static constexpr std::string_view kName = "SplitBackward0";
  using PartsBackward::PartsBackward;
  void operator()(Gradients& grads, const TensorVector& grad) { grads.set(0, cat(filled(grad), dim)); }
};
struct SplitWithSizesBackward0 : PartsBackward {
  static constexpr std::string_view kName = "SplitWithSizesBackward0";
  using PartsBackward::PartsBackward;
  void operator()(Gradients& grads, const TensorVector& grad) { grads.set(0, cat(filled(grad), dim)); }
};
struct UnbindBackward0 : PartsBackward {
  static constexpr std::string_view kName = "UnbindBackward0";
  using PartsBackward::PartsBackward;
  void operator()(Gradients& grads, const TensorVector& grad) { grads.set(0, stack(filled(grad), dim)); }
};

struct RepeatBackward0 {
  static constexpr std::string_view kName = "RepeatBackward0";
  DimVector sizes, repeats;
  RepeatBackward0(InputNeeds, const Tensor& self, IntArrayRef times) : sizes(self.sizes()), repeats(times) {}
  void operator()(Gradients& grads, const Tensor& grad) {
    if (grad.numel() == 0) return grads.set(0, zeros(sizes, grad.options()));
    DimVector split, summed;
    const std::size_t added = repeats.size() - sizes.size();
    for (std::size_t d = 0; d < repeats.size(); ++d) {
      summed.push_back(static_cast<std::int64_t>(split.size()));
      split.push_back(repeats[d]);
      split.push_back(d < added ? 1 : sizes[d - added]);
    }
    grads.set(0, summed.empty() ? grad : grad.reshape(split).sum(summed).reshape(sizes));
  }
};

}  // namespace

Tensor cat(TensorList tensors, std::int64_t dim) { return cat_op(tensors, dim); }
Tensor stack(TensorList tensors, std::int64_t dim) { return stack_op(tensors, dim); }
TensorVector split(const Tensor& self, std::int64_t split_size, std::int64_t dim) { return split_op(self, split_size, dim); }
TensorVector split(const Tensor& self, IntArrayRef split_sizes, std::int64_t dim) { return split_with_sizes_op(self, split_sizes, dim); }
TensorVector chunk(const Tensor& self, std::int64_t chunks, std::int64_t dim) { return chunk_op(self, chunks, dim); }
TensorVector unbind(const Tensor& self, std::int64_t dim) { return unbind_op(self, dim); }
Tensor repeat(const Tensor& self, IntArrayRef repeats) { return repeat_op(self, repeats); }

TensorVector Tensor::split(std::int64_t split_size, std::int64_t dim) const { return split_op(*this, split_size, dim); }
TensorVector Tensor::split_with_sizes(IntArrayRef split_sizes, std::int64_t dim) const {
  return split_with_sizes_op(*this, split_sizes, dim);
}
TensorVector Tensor::chunk(std::int64_t chunks, std::int64_t dim) const { return chunk_op(*this, chunks, dim); }
TensorVector Tensor::unbind(std::int64_t dim) const { return unbind_op(*this, dim); }
Tensor Tensor::repeat(IntArrayRef repeats) const { return repeat_op(*this, repeats); }

void register_joining_ops(Library& library) {
  library.define<cat_op>().kernel<cat_kernel>().autograd<CatBackward0>();
  library.define<stack_op>().kernel<stack_kernel>().autograd<StackBackward0>();
  library.define<split_op>().kernel<split_kernel>().autograd<SplitBackward0>();
  library.define<split_with_sizes_op>().kernel<split_with_sizes_kernel>().autograd<SplitWithSizesBackward0>();
  library.define<chunk_op>().composite<chunk_composite>();
  library.define<unbind_op>().kernel<unbind_kernel>().autograd<UnbindBackward0>();
  library.define<repeat_op>().kernel<repeat_kernel>().autograd<RepeatBackward0>();
}

}  // namespace mindtorch
