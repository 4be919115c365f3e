// Reductions: sums, products, extrema, truth, norms, variance. Without dims, all of them are reduced.
#pragma once

#include <tuple>

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

MINDTORCH_EXPORT Tensor sum(const Tensor& self, std::optional<ScalarType> dtype = std::nullopt);
MINDTORCH_EXPORT Tensor sum(const Tensor& self, IntArrayRef dims, bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt);
MINDTORCH_EXPORT Tensor mean(const Tensor& self, std::optional<ScalarType> dtype = std::nullopt);
MINDTORCH_EXPORT Tensor mean(const Tensor& self, IntArrayRef dims, bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt);
MINDTORCH_EXPORT Tensor prod(const Tensor& self, std::optional<ScalarType> dtype = std::nullopt);
MINDTORCH_EXPORT Tensor prod(const Tensor& self, std::int64_t dim, bool keepdim = false, std::optional<ScalarType> dtype = std::nullopt);
MINDTORCH_EXPORT Tensor var(const Tensor& self, std::optional<IntArrayRef> dims = std::nullopt, const std::optional<Scalar>& correction = 1,
                            bool keepdim = false);
MINDTORCH_EXPORT Tensor std(const Tensor& self, std::optional<IntArrayRef> dims = std::nullopt, const std::optional<Scalar>& correction = 1,
                            bool keepdim = false);
// (sum |x|^p)^(1/p); p may be 0 (count of non-zeros) or infinite.
MINDTORCH_EXPORT Tensor norm(const Tensor& self, const Scalar& p = 2, std::optional<IntArrayRef> dims = std::nullopt, bool keepdim = false);
MINDTORCH_EXPORT Tensor logsumexp(const Tensor& self, IntArrayRef dims, bool keepdim = false);

// Extrema. NaN wins. Of equal elements the first position is given; amax, amin, max() and min() share the gradient among equal ones.
MINDTORCH_EXPORT Tensor max(const Tensor& self);
MINDTORCH_EXPORT Tensor min(const Tensor& self);
MINDTORCH_EXPORT std::tuple<Tensor, Tensor> max(const Tensor& self, std::int64_t dim, bool keepdim = false);  // values, indices
MINDTORCH_EXPORT std::tuple<Tensor, Tensor> min(const Tensor& self, std::int64_t dim, bool keepdim = false);
MINDTORCH_EXPORT Tensor amax(const Tensor& self, IntArrayRef dims = {}, bool keepdim = false);
MINDTORCH_EXPORT Tensor amin(const Tensor& self, IntArrayRef dims = {}, bool keepdim = false);
MINDTORCH_EXPORT Tensor argmax(const Tensor& self, std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false);
MINDTORCH_EXPORT Tensor argmin(const Tensor& self, std::optional<std::int64_t> dim = std::nullopt, bool keepdim = false);
// The k largest along a dimension, in order, and where they are.
MINDTORCH_EXPORT std::tuple<Tensor, Tensor> topk(const Tensor& self, std::int64_t k, std::int64_t dim = -1, bool largest = true,
                                                 bool sorted = true);
MINDTORCH_EXPORT Tensor cumsum(const Tensor& self, std::int64_t dim, std::optional<ScalarType> dtype = std::nullopt);

// Truth of all or some elements; results are bool.
MINDTORCH_EXPORT Tensor any(const Tensor& self);
MINDTORCH_EXPORT Tensor any(const Tensor& self, std::int64_t dim, bool keepdim = false);
MINDTORCH_EXPORT Tensor all(const Tensor& self);
MINDTORCH_EXPORT Tensor all(const Tensor& self, std::int64_t dim, bool keepdim = false);

}  // namespace mindtorch
