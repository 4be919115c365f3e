// Views of a part of a tensor: select, slice, narrow.
#include <algorithm>
#include <limits>

#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"

namespace mindtorch {

namespace {

using autograd::Gradients;
using autograd::InputNeeds;
using Position = std::optional<std::int64_t>;

constinit Op<Tensor(const Tensor&, std::int64_t, std::int64_t)> select_op{
    "aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)"};
constinit Op<Tensor(const Tensor&, std::int64_t, Position, Position, std::int64_t)> slice_op{
    "aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)"};
constinit Op<Tensor(const Tensor&, std::int64_t, std::int64_t, std::int64_t)> narrow_op{
    "aten::narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)"};
constinit Op<Tensor(const Tensor&, IntArrayRef, std::int64_t, std::int64_t)> select_backward_op{
    "aten::select_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt index) -> Tensor"};
constinit Op<Tensor(const Tensor&, IntArrayRef, std::int64_t, std::int64_t, std::int64_t, std::int64_t)> slice_backward_op{
    "aten::slice_backward(Tensor grad_output, SymInt[] input_sizes, int dim, SymInt start, SymInt end, SymInt step) -> Tensor"};

// ---- kernels ----

Tensor select_kernel(const Tensor& self, std::int64_t dim, std::int64_t index) {
  if (self.dim() == 0) throw_error<OutOfRange>("aten::select", "select() cannot be applied to a 0-dim tensor.");
  const std::int64_t d = wrap_dim(dim, self.dim(), "aten::select"), size = self.sizes()[d];
  if (index < -size || index >= size)
    throw_error<OutOfRange>("aten::select", "select(): index {} out of range for tensor of size {} at dimension {}", index,
                            to_string(self.sizes()), dim);
  DimVector sizes(self.sizes()), strides(self.strides());
  const std::int64_t offset = self.storage_offset() + (index < 0 ? index + size : index) * strides[d];
  sizes.erase(d);
  strides.erase(d);
  return make_view(self, sizes, strides, offset);
}

// Python's rules: negative positions count from the end, and all are clamped to the size.
struct Range {
  std::int64_t start, length, step;
  Range(std::int64_t size, Position from, Position to, std::int64_t stride) : step(stride) {
    const auto clamped = [size](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size); };
    start = clamped(from.value_or(0));
    const std::int64_t end = std::max(start, clamped(to.value_or(size)));
    length = (end - start + step - 1) / step;
  }
};

Tensor slice_kernel(const Tensor& self, std::int64_t dim, Position start, Position end, std::int64_t step) {
  if (self.dim() == 0) throw_error<OutOfRange>("aten::slice", "slice() cannot be applied to a 0-dim tensor.");
  if (step <= 0) throw_error("aten::slice", "slice step must be positive, got {}", step);
  const std::int64_t d = wrap_dim(dim, self.dim(), "aten::slice");
  DimVector sizes(self.sizes()), strides(self.strides());
  const Range range(sizes[d], start, end, step);
  const std::int64_t offset = self.storage_offset() + range.start * strides[d];
  sizes[d] = range.length;
  strides[d] *= step;
  return make_view(self, sizes, strides, offset);
}

Tensor narrow_composite(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length) {
  if (self.dim() == 0) throw_error("aten::narrow", "narrow() cannot be applied to a 0-dim tensor.");
  if (length < 0) throw_error("aten::narrow", "narrow(): length must be non-negative, got {}", length);
  const std::int64_t d = wrap_dim(dim, self.dim(), "aten::narrow"), size = self.sizes()[d];
  if (start < -size || start > size)
    throw_error<OutOfRange>("aten::narrow", "start out of range (expected to be in range of [{}, {}], but got {})", -size, size, start);
  const std::int64_t from = start < 0 ? start + size : start;
  if (from + length > size) throw_error("aten::narrow", "start ({}) + length ({}) exceeds dimension size ({}).", from, length, size);
  return slice_op(self, d, from, from + length, 1);
}

Tensor select_backward_kernel(const Tensor& grad, IntArrayRef sizes, std::int64_t dim, std::int64_t index) {
  Tensor whole = zeros(sizes, grad.options());
  select_kernel(whole, dim, index).copy_(grad);
  return whole;
}

Tensor slice_backward_kernel(const Tensor& grad, IntArrayRef sizes, std::int64_t dim, std::int64_t start, std::int64_t end,
                             std::int64_t step) {
  Tensor whole = zeros(sizes, grad.options());
  slice_kernel(whole, dim, start, end, step).copy_(grad);
  return whole;
}

// ---- derivatives ----

struct SelectBackward0 {
  static constexpr std::string_view kName = "SelectBackward0";
  DimVector sizes;
  std::int64_t dim, index;
  SelectBackward0(InputNeeds, const Tensor& self, std::int64_t d, std::int64_t i) : sizes(self.sizes()), dim(d), index(i) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, select_backward_op(grad, sizes, dim, index)); }
};

struct SliceBackward0 {
  static constexpr std::string_view kName = "SliceBackward0";
  DimVector sizes;
  std::int64_t dim, start, end, step;
  SliceBackward0(InputNeeds, const Tensor& self, std::int64_t d, Position from, Position to, std::int64_t stride)
      : sizes(self.sizes()), dim(d), start(from.value_or(0)), end(to.value_or(std::numeric_limits<std::int64_t>::max())), step(stride) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, slice_backward_op(grad, sizes, dim, start, end, step)); }
};

struct SelectBackwardBackward0 {
  static constexpr std::string_view kName = "SelectBackwardBackward0";
  std::int64_t dim, index;
  SelectBackwardBackward0(InputNeeds, const Tensor&, IntArrayRef, std::int64_t d, std::int64_t i) : dim(d), index(i) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, grad.select(dim, index)); }
};

struct SliceBackwardBackward0 {
  static constexpr std::string_view kName = "SliceBackwardBackward0";
  std::int64_t dim, start, end, step;
  SliceBackwardBackward0(InputNeeds, const Tensor&, IntArrayRef, std::int64_t d, std::int64_t from, std::int64_t to, std::int64_t stride)
      : dim(d), start(from), end(to), step(stride) {}
  void operator()(Gradients& grads, const Tensor& grad) { grads.set(0, grad.slice(dim, start, end, step)); }
};

}  // namespace

Tensor select(const Tensor& self, std::int64_t dim, std::int64_t index) { return select_op(self, dim, index); }
Tensor slice(const Tensor& self, std::int64_t dim, Position start, Position end, std::int64_t step) {
  return slice_op(self, dim, start, end, step);
}
Tensor narrow(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length) { return narrow_op(self, dim, start, length); }

Tensor Tensor::select(std::int64_t dim, std::int64_t index) const { return select_op(*this, dim, index); }
Tensor Tensor::slice(std::int64_t dim, Position start, Position end, std::int64_t step) const {
  return slice_op(*this, dim, start, end, step);
}
Tensor Tensor::narrow(std::int64_t dim, std::int64_t start, std::int64_t length) const { return narrow_op(*this, dim, start, length); }
Tensor Tensor::operator[](std::int64_t index) const { return select_op(*this, 0, index); }

void register_slicing_ops(Library& library) {
  library.define<select_op>().kernel<select_kernel>().autograd<SelectBackward0>();
  library.define<slice_op>().kernel<slice_kernel>().autograd<SliceBackward0>();
  library.define<narrow_op>().composite<narrow_composite>();
  library.define<select_backward_op>().kernel<select_backward_kernel>().autograd<SelectBackwardBackward0>();
  library.define<slice_backward_op>().kernel<slice_backward_kernel>().autograd<SliceBackwardBackward0>();
}

}  // namespace mindtorch
