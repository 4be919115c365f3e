// Parts of tensors: by position, by range, by index.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/dispatch/optional_tensor_list.h"

namespace mindtorch {

// Views.
MINDTORCH_EXPORT Tensor select(const Tensor& self, std::int64_t dim, std::int64_t index);
MINDTORCH_EXPORT Tensor slice(const Tensor& self, std::int64_t dim = 0, std::optional<std::int64_t> start = std::nullopt,
                              std::optional<std::int64_t> end = std::nullopt, std::int64_t step = 1);
MINDTORCH_EXPORT Tensor narrow(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length);

// Copies. `index` holds integers.
MINDTORCH_EXPORT Tensor index_select(const Tensor& self, std::int64_t dim, const Tensor& index);
MINDTORCH_EXPORT Tensor index_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1);
MINDTORCH_EXPORT Tensor gather(const Tensor& self, std::int64_t dim, const Tensor& index);
MINDTORCH_EXPORT Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src);
MINDTORCH_EXPORT Tensor scatter_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src);
MINDTORCH_EXPORT Tensor tril(const Tensor& self, std::int64_t diagonal = 0);
MINDTORCH_EXPORT Tensor triu(const Tensor& self, std::int64_t diagonal = 0);

// Indexing by tensors, one for each leading dimension: integers, or masks, which cover as many dimensions as they have. An undefined tensor
// selects the whole dimension. The call waits for the values of a mask.
MINDTORCH_EXPORT Tensor index(const Tensor& self, OptionalTensorList indices);
MINDTORCH_EXPORT Tensor index_put(const Tensor& self, OptionalTensorList indices, const Tensor& values, bool accumulate = false);
MINDTORCH_EXPORT Tensor index_put_(const Tensor& self, OptionalTensorList indices, const Tensor& values, bool accumulate = false);
// The positions of elements that are not zero: a row for each, or a tensor for each dimension. The call waits until they are counted.
MINDTORCH_EXPORT Tensor nonzero(const Tensor& self);
MINDTORCH_EXPORT TensorVector nonzero_numpy(const Tensor& self);
// The elements where a mask is true, as one dimension.
MINDTORCH_EXPORT Tensor masked_select(const Tensor& self, const Tensor& mask);

}  // namespace mindtorch
