// Comparisons, and choices between elements.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

// Results are bool.
MINDTORCH_EXPORT Tensor eq(const Tensor& self, const Tensor& other);
MINDTORCH_EXPORT Tensor eq(const Tensor& self, const Scalar& other);
MINDTORCH_EXPORT Tensor ne(const Tensor& self, const Tensor& other);
MINDTORCH_EXPORT Tensor ne(const Tensor& self, const Scalar& other);
MINDTORCH_EXPORT Tensor lt(const Tensor& self, const Tensor& other);
MINDTORCH_EXPORT Tensor lt(const Tensor& self, const Scalar& other);
MINDTORCH_EXPORT Tensor le(const Tensor& self, const Tensor& other);
MINDTORCH_EXPORT Tensor le(const Tensor& self, const Scalar& other);
MINDTORCH_EXPORT Tensor gt(const Tensor& self, const Tensor& other);
MINDTORCH_EXPORT Tensor gt(const Tensor& self, const Scalar& other);
MINDTORCH_EXPORT Tensor ge(const Tensor& self, const Tensor& other);
MINDTORCH_EXPORT Tensor ge(const Tensor& self, const Scalar& other);
MINDTORCH_EXPORT Tensor logical_and(const Tensor& self, const Tensor& other);
MINDTORCH_EXPORT Tensor logical_or(const Tensor& self, const Tensor& other);

MINDTORCH_EXPORT Tensor maximum(const Tensor& self, const Tensor& other);
MINDTORCH_EXPORT Tensor minimum(const Tensor& self, const Tensor& other);
// condition ? self : other; the condition is bool.
MINDTORCH_EXPORT Tensor where(const Tensor& condition, const Tensor& self, const Tensor& other);
MINDTORCH_EXPORT Tensor where(const Tensor& condition, const Tensor& self, const Scalar& other);
MINDTORCH_EXPORT Tensor where(const Tensor& condition, const Scalar& self, const Tensor& other);
MINDTORCH_EXPORT Tensor masked_fill(const Tensor& self, const Tensor& mask, const Scalar& value);
// At least one limit must be given.
MINDTORCH_EXPORT Tensor clamp(const Tensor& self, const std::optional<Scalar>& min, const std::optional<Scalar>& max = std::nullopt);

inline Tensor operator==(const Tensor& a, const Tensor& b) { return eq(a, b); }
inline Tensor operator==(const Tensor& a, const Scalar& b) { return eq(a, b); }
inline Tensor operator<(const Tensor& a, const Tensor& b) { return lt(a, b); }
inline Tensor operator<(const Tensor& a, const Scalar& b) { return lt(a, b); }
inline Tensor operator<=(const Tensor& a, const Tensor& b) { return le(a, b); }
inline Tensor operator<=(const Tensor& a, const Scalar& b) { return le(a, b); }
inline Tensor operator>(const Tensor& a, const Tensor& b) { return gt(a, b); }
inline Tensor operator>(const Tensor& a, const Scalar& b) { return gt(a, b); }
inline Tensor operator>=(const Tensor& a, const Tensor& b) { return ge(a, b); }
inline Tensor operator>=(const Tensor& a, const Scalar& b) { return ge(a, b); }

}  // namespace mindtorch
