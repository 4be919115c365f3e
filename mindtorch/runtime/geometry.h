// Makes tensors from storage: new ones, views, aliases. These functions are neither dispatched nor recorded; kernels and the core use them.
#pragma once

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

// A contiguous tensor, not initialised.
Tensor new_tensor(IntArrayRef sizes, ScalarType dtype, Device device);
// The same with strides in any order, but without gaps.
Tensor new_strided_tensor(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device);

// A tensor over part of the memory of `self` that autograd tracks as a view: a write to one is visible, and differentiated, in both.
// `offset` counts elements from the start of the storage. Throws if the view would reach outside of the storage.
Tensor make_view(const Tensor& self, IntArrayRef sizes, IntArrayRef strides, std::int64_t offset);
inline Tensor make_view(const Tensor& self, IntArrayRef sizes, IntArrayRef strides) {
  return make_view(self, sizes, strides, self.storage_offset());
}

// A tensor with the same memory and geometry that autograd does not track.
Tensor alias_without_history(const Tensor& self);

// A fresh contiguous result with another shape of as many elements. It shares the memory, but autograd does not treat it as a view.
Tensor make_dense_view(const Tensor& fresh, IntArrayRef sizes);

// The strides with which memory of `sizes` and `strides` can be viewed as `new_sizes`; nothing if that needs a copy.
std::optional<DimVector> view_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef new_sizes);

// `sizes` with a -1 replaced by the size that `numel` requires. Throws torch's error if the number of elements does not match.
DimVector infer_size(IntArrayRef sizes, std::int64_t numel, std::string_view op);

// Turns a dimension that may be negative into 0 <= result < dims. A zero-dimensional tensor counts as having dimension 0. Throws
// OutOfRange.
std::int64_t wrap_dim(std::int64_t dim, std::int64_t dims, std::string_view op);

// True if two elements may share memory (exact for strides of views, conservative for others).
bool may_overlap(IntArrayRef sizes, IntArrayRef strides);

// True if no two elements share memory and there are no gaps: strides are a permutation of contiguous ones.
bool is_dense(IntArrayRef sizes, IntArrayRef strides);

}  // namespace mindtorch
