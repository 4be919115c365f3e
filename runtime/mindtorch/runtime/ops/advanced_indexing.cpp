// Indexing by tensors, x[rows, columns] and x[mask], reading and writing: index, index_put.
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
using IndexPut = Tensor(const Tensor&, OptionalTensorList, const Tensor&, bool);

constinit Op<Tensor(const Tensor&, OptionalTensorList)> index_op{"aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor"};
constinit Op<IndexPut> index_put_op{"aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor"};
constinit Op<IndexPut> index_put__op{
    "aten::index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)"};
constinit Op<Tensor(const Tensor&, OptionalTensorList, const Tensor&, bool, bool)> index_put_impl__op{
    "aten::_index_put_impl_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False, bool unsafe=False) -> Tensor(a!)"};

// ---- what an index means ----

bool is_mask(const Tensor& index) { return index.dtype() == kBool || index.dtype() == kUint8; }

void check_mask(const Tensor& mask, const Tensor& self, std::size_t first) {
  for (std::size_t d = 0; d < mask.sizes().size(); ++d)
    if (first + d >= self.sizes().size() || mask.sizes()[d] != self.sizes()[first + d])
      throw_error<OutOfRange>("aten::index",
                              "The shape of the mask {} at index {} does not match the shape of the indexed tensor {} at index {}",
                              to_string(mask.sizes()), d, to_string(self.sizes()), first + d);
}

// Indices of integers where `self` is: masks have become the positions of their true elements.
TensorVector positions_of(const Tensor& self, OptionalTensorList indices) {
  TensorVector positions;
  for (const Tensor& index : indices) {
    if (!index.defined()) {
      positions.emplace_back();
      continue;
    }
    if (index.is_floating_point())
      throw_error<OutOfRange>("aten::index", "tensors used as indices must be long, int, byte or bool tensors");
    if (index.device() != self.device() && !index.is_cpu())
      throw_error("aten::index", "indices should be either on cpu or on the same device as the indexed tensor ({})", self.device().str());
    const Tensor here = index.device() == self.device() ? index : index.to(self.device());
    if (is_mask(here)) {
      check_mask(here, self, positions.size());
      const Tensor rows = nonzero(here);
      for (std::int64_t d = 0; d < here.dim(); ++d) positions.push_back(rows.select(1, d));
    } else {
      positions.push_back(here.dtype() == kInt64 ? here : here.to(kInt64));
    }
  }
  if (positions.size() > self.sizes().size())
    throw_error<OutOfRange>("aten::index", "too many indices for tensor of dimension {} (got {})", self.dim(), positions.size());
  return positions;
}

DimVector common_sizes(const TensorVector& positions) {
  DimVector sizes;
  for (const Tensor& index : positions) {
    if (!index.defined()) continue;
    try {
      sizes = broadcast_shape(sizes, index.sizes(), "aten::index");
    } catch (const Error&) {
      throw_error<OutOfRange>("aten::index", "shape mismatch: indexing tensors could not be broadcast together with shapes {}, {}",
                              to_string(sizes), to_string(index.sizes()));
    }
  }
  return sizes;
}

// Where the elements that an index names lie, counted from the start of the dimensions that are not indexed.
struct Offsets {
  Tensor bytes;            // of the sizes that the indices have in common
  std::int64_t reach = 1;  // all of them are below this
  std::size_t before = 0;  // where their sizes stand: dimensions that lie side by side are replaced, others by dimensions at the front
};

Offsets offsets_of(const Tensor& self, const TensorVector& positions) {
  const DimVector sizes = common_sizes(positions);
  Offsets result{new_tensor(sizes, kInt64, self.device())};
  std::size_t first = 0, count = 0;
  bool is_together = true;
  for (std::size_t d = 0; d < positions.size(); ++d) {
    if (!positions[d].defined()) continue;
    if (count == 0) first = d;
    is_together = is_together && d == first + count;
    const bool is_first = count++ == 0;
    if (result.bytes.numel() == 0) continue;
    const std::int64_t size = self.sizes()[d], stride = self.strides()[d] * static_cast<std::int64_t>(self.element_size());
    if (size == 0) throw_error<OutOfRange>("aten::index", "index is out of bounds for dimension {} with size 0", d);
    launch(self.device(), "index", cpu::add_offsets, make_loop_plan<2>(sizes, {LoopOperand{&result.bytes}, LoopOperand{&positions[d]}}),
           cpu::IndexedDim{size, stride, static_cast<std::int64_t>(d)}, is_first);
    result.reach += (size - 1) * stride;
  }
  if (count == 0) throw_error("aten::index", "at least one index must be a tensor");
  result.before = is_together ? first : 0;
  return result;
}

// The elements that an index names: a view of the tensor that stands still along the indexed dimensions, and offsets that move it.
struct Indexed {
  DimVector sizes;        // of the result
  Tensor anchor;          // undefined if the result has no elements
  Tensor offsets;         // can be expanded to `sizes`
  cpu::IndexedDim bytes;  // the memory that they reach, as one dimension: a device that goes on after an error stays inside of it
};

Indexed locate(const Tensor& self, OptionalTensorList indices) {
  const TensorVector positions = positions_of(self, indices);
  const Offsets offsets = offsets_of(self, positions);
  DimVector sizes, strides, spread;
  const auto keep = [&](std::size_t d) {
    if (d < positions.size() && positions[d].defined()) return;
    sizes.push_back(self.sizes()[d]), strides.push_back(self.strides()[d]), spread.push_back(1);
  };
  for (std::size_t d = 0; d < offsets.before; ++d) keep(d);
  for (const std::int64_t size : offsets.bytes.sizes()) sizes.push_back(size), strides.push_back(0), spread.push_back(size);
  for (std::size_t d = offsets.before; d < self.sizes().size(); ++d) keep(d);
  Indexed result{sizes, {}, make_dense_view(offsets.bytes, spread), {offsets.reach, 1, 0}};
  if (checked_numel(sizes) != 0) result.anchor = make_view(self, sizes, strides);
  return result;
}

// ---- kernels ----

Tensor index_kernel(const Tensor& self, OptionalTensorList indices) {
  const Indexed from = locate(self, indices);
  const Tensor out = new_tensor(from.sizes, self.dtype(), self.device());
  if (from.anchor.defined())
    launch(self.device(), "index", cpu::gather, self.dtype(),
           make_loop_plan<3>(from.sizes, {LoopOperand{&out}, LoopOperand{&from.offsets}, LoopOperand{&from.anchor}}), from.bytes);
  return out;
}

// The mask, if the index is nothing but one: it can be filled without looking for positions.
Tensor only_mask(const Tensor& self, OptionalTensorList indices) {
  Tensor mask;
  std::size_t next = 0;
  for (const Tensor& index : indices) {
    if (!index.defined()) {
      ++next;
      continue;
    }
    if (mask.defined() || index.dtype() != kBool || index.dim() == 0) return Tensor();
    check_mask(index, self, next);
    next += index.sizes().size();
    mask = index;
  }
  for (; mask.defined() && next < self.sizes().size(); ++next) mask = mask.unsqueeze(-1);
  return mask.defined() && mask.device() != self.device() ? mask.to(self.device()) : mask;
}

Tensor index_put_impl__kernel(const Tensor& self, OptionalTensorList indices, const Tensor& values, bool accumulate, bool) {
  if (values.dtype() != self.dtype())
    throw_error("aten::index_put_",
                "Index put requires the source and destination dtypes match, got {} for the destination and {} for the source.",
                scalar_type_title(self.dtype()), scalar_type_title(values.dtype()));
  if (!accumulate && values.numel() == 1)
    if (const Tensor mask = only_mask(self, indices); mask.defined()) return self.masked_fill_(mask, values.item());
  const Indexed to = locate(self, indices);
  if (!is_expandable_to(values.sizes(), to.sizes))
    throw_error("aten::index_put_", "shape mismatch: value tensor of shape {} cannot be broadcast to indexing result of shape {}",
                to_string(values.sizes()), to_string(to.sizes));
  if (!to.anchor.defined()) return self;
  Tensor source = values.device() != self.device() && values.dim() == 0 ? values.to(self.device()) : values;
  common_device({&self, &source}, "aten::index_put_");
  if (source.storage() == self.storage()) source = source.clone();  // what is read must not change meanwhile
  launch(self.device(), "index_put_", accumulate ? cpu::scatter_add : cpu::scatter, self.dtype(),
         make_loop_plan<3>(to.sizes, {LoopOperand{&to.anchor}, LoopOperand{&to.offsets}, LoopOperand{&source}}), to.bytes);
  return self;
}

Tensor index_put__kernel(const Tensor& self, OptionalTensorList indices, const Tensor& values, bool accumulate) {
  return index_put_impl__op(self, indices, values, accumulate, false);
}

Tensor index_put_kernel(const Tensor& self, OptionalTensorList indices, const Tensor& values, bool accumulate) {
  return index_put__op(self.clone(), indices, values, accumulate);
}

// ---- derivatives ----

class SavedIndices {
 public:
  explicit SavedIndices(OptionalTensorList indices) {
    for (const Tensor& index : indices) saved_.emplace_back(index);
  }
  TensorVector unpack(const Gradients& grads) const {
    TensorVector indices;
    for (const SavedVariable& index : saved_) indices.push_back(grads.unpack(index));
    return indices;
  }
  std::size_t size() const { return saved_.size(); }
  void release() {
    for (SavedVariable& index : saved_) index.release();
  }

 private:
  std::vector<SavedVariable> saved_;
};

struct IndexBackward0 {
  static constexpr std::string_view kName = "IndexBackward0";
  SavedIndices indices;
  DimVector sizes;
  IndexBackward0(InputNeeds, const Tensor& self, OptionalTensorList list) : indices(list), sizes(self.sizes()) {}
  auto saved() { return std::tie(indices); }
  void operator()(Gradients& grads, const Tensor& grad) {
    grads.set(0, index_put_impl__op(zeros(sizes, grad.options()), indices.unpack(grads), grad, true, true));
  }
};

// Written elements pass their gradient to the values and, unless they were added to, not to self.
struct IndexPutBackward {
  SavedIndices indices;
  DimVector value_sizes;
  bool accumulate;
  IndexPutBackward(InputNeeds, const Tensor&, OptionalTensorList list, const Tensor& values, bool adds, bool = false)
      : indices(list), value_sizes(values.sizes()), accumulate(adds) {}
  auto saved() { return std::tie(indices); }
  void operator()(Gradients& grads, const Tensor& grad) {
    const TensorVector at = indices.unpack(grads);
    if (grads.needs(0)) grads.set(0, accumulate ? grad : index_put_op(grad, at, zeros(value_sizes, grad.options()), false));
    if (grads.needs(1 + indices.size())) grads.set(1 + indices.size(), index_op(grad, at));
  }
};
struct IndexPutBackward0 : IndexPutBackward {
  static constexpr std::string_view kName = "IndexPutBackward0";
  using IndexPutBackward::IndexPutBackward;
};
struct IndexPutImplBackward0 : IndexPutBackward {
  static constexpr std::string_view kName = "IndexPutImplBackward0";
  using IndexPutBackward::IndexPutBackward;
};

}  // namespace

Tensor index(const Tensor& self, OptionalTensorList indices) { return index_op(self, indices); }
Tensor index_put(const Tensor& self, OptionalTensorList indices, const Tensor& values, bool accumulate) {
  return index_put_op(self, indices, values, accumulate);
}
Tensor index_put_(const Tensor& self, OptionalTensorList indices, const Tensor& values, bool accumulate) {
  return index_put__op(self, indices, values, accumulate);
}

void register_advanced_indexing_ops(Library& library) {
  library.define<index_op>().kernel<index_kernel>().autograd<IndexBackward0>();
  library.define<index_put_op>().kernel<index_put_kernel>().autograd<IndexPutBackward0>();
  library.define<index_put__op>().kernel<index_put__kernel>().autograd<IndexPutBackward0>();
  library.define<index_put_impl__op>().kernel<index_put_impl__kernel>().autograd<IndexPutImplBackward0>();
}

}  // namespace mindtorch
