// Making tensors out of storage: new ones, views, aliases. Not dispatched and not recorded: for kernels and the core.
#pragma once

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

// A contiguous tensor, not initialised.
Tensor new_tensor(IntArrayRef sizes, ScalarType dtype, Device device);
// The same with strides of any order, without gaps.
Tensor new_strided_tensor(IntArrayRef sizes, IntArrayRef strides, ScalarType dtype, Device device);

// A tensor over part of the memory of `self`, tracked as its view: a write to either is seen, and differentiated, in both. `offset` is in
// elements from the start of the storage. Throws if it would reach outside of the storage.
Tensor make_view(const Tensor& self, IntArrayRef sizes, IntArrayRef strides, std::int64_t offset);
inline Tensor make_view(const Tensor& self, IntArrayRef sizes, IntArrayRef strides) {
  return make_view(self, sizes, strides, self.storage_offset());
}

// The same memory and geometry; autograd knows nothing of it and does not track it as a view.
Tensor alias_without_history(const Tensor& self);

// A fresh result seen in another shape of as many elements: the same contiguous memory, and no view as far as autograd is concerned.
Tensor make_dense_view(const Tensor& fresh, IntArrayRef sizes);

// Strides with which memory of `sizes` and `strides` can be seen as `new_sizes`, if it can without a copy.
std::optional<DimVector> view_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef new_sizes);

// `sizes` with a -1 replaced by what `numel` requires; throws torch's error if the number of elements does not match.
DimVector infer_size(IntArrayRef sizes, std::int64_t numel, std::string_view op);

// 0 <= result < dims from a dimension that may be negative; a zero-dimensional tensor has dimension 0 too. Throws OutOfRange.
std::int64_t wrap_dim(std::int64_t dim, std::int64_t dims, std::string_view op);

// True if two elements may share memory (exact for strides of views, conservative for others).
bool may_overlap(IntArrayRef sizes, IntArrayRef strides);

// True if no two elements share memory and there are no gaps: strides are a permutation of contiguous ones.
bool is_dense(IntArrayRef sizes, IntArrayRef strides);

}  // namespace mindtorch
