// Makes tensors from storage: new ones, views, aliases. These functions are neither dispatched nor recorded; kernels and the core use them.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

// A contiguous tensor, not initialised.
MINDTORCH_EXPORT Tensor new_tensor(IntArrayRef sizes, ScalarType dtype, Device device);
// The same with strides in any order, but without gaps.
MINDTORCH_EXPORT Tensor new_strided_tensor(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device);

// A tensor over part of the memory of `self` that autograd tracks as a view: a write to one is visible, and differentiated, in both.
// `offset` counts elements from the start of the storage. Throws if the view would reach outside of the storage.
MINDTORCH_EXPORT Tensor make_view(const Tensor& self, IntArrayRef sizes, IntArrayRef strides, std::int64_t offset);
inline Tensor make_view(const Tensor& self, IntArrayRef sizes, IntArrayRef strides) {
  return make_view(self, sizes, strides, self.storage_offset());
}

// A tensor with the same memory and geometry that autograd does not track.
MINDTORCH_EXPORT Tensor alias_without_history(const Tensor& self);

// A fresh contiguous result with another shape of as many elements. It shares the memory, but autograd does not treat it as a view.
MINDTORCH_EXPORT Tensor make_dense_view(const Tensor& fresh, IntArrayRef sizes);

// The strides with which memory of `sizes` and `strides` can be viewed as `new_sizes`; nothing if that needs a copy.
MINDTORCH_EXPORT std::optional<DimVector> view_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef new_sizes);

// `sizes` with a -1 replaced by the size that `numel` requires. Throws torch's error if the number of elements does not match.
MINDTORCH_EXPORT DimVector infer_size(IntArrayRef sizes, std::int64_t numel, std::string_view op);

// Turns a dimension that may be negative into 0 <= result < dims. A zero-dimensional tensor counts as having dimension 0. Throws
// OutOfRange.
MINDTORCH_EXPORT std::int64_t wrap_dim(std::int64_t dim, std::int64_t dims, std::string_view op);

// True if two elements may share memory (exact for strides of views, conservative for others).
MINDTORCH_EXPORT bool may_overlap(IntArrayRef sizes, IntArrayRef strides);

// True if no two elements share memory and there are no gaps: strides are a permutation of contiguous ones.
MINDTORCH_EXPORT bool is_dense(IntArrayRef sizes, IntArrayRef strides);

}  // namespace mindtorch
