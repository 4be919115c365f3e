// Parts of tensors: by position, by range, by index.
#pragma once

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

// Views.
Tensor select(const Tensor& self, std::int64_t dim, std::int64_t index);
Tensor slice(const Tensor& self, std::int64_t dim = 0, std::optional<std::int64_t> start = std::nullopt,
             std::optional<std::int64_t> end = std::nullopt, std::int64_t step = 1);
Tensor narrow(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length);

// Copies. `index` holds integers.
Tensor index_select(const Tensor& self, std::int64_t dim, const Tensor& index);
Tensor index_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& source, const Scalar& alpha = 1);
Tensor gather(const Tensor& self, std::int64_t dim, const Tensor& index);
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src);
Tensor scatter_add(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src);
Tensor tril(const Tensor& self, std::int64_t diagonal = 0);
Tensor triu(const Tensor& self, std::int64_t diagonal = 0);

}  // namespace mindtorch
