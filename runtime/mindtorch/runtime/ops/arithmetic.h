// Addition, subtraction, multiplication, division.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

MINDTORCH_EXPORT Tensor add(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
MINDTORCH_EXPORT Tensor add(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
MINDTORCH_EXPORT Tensor sub(const Tensor& self, const Tensor& other, const Scalar& alpha = 1);
MINDTORCH_EXPORT Tensor sub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);
MINDTORCH_EXPORT Tensor rsub(const Tensor& self, const Scalar& other, const Scalar& alpha = 1);  // other - alpha * self
MINDTORCH_EXPORT Tensor mul(const Tensor& self, const Tensor& other);
MINDTORCH_EXPORT Tensor mul(const Tensor& self, const Scalar& other);
MINDTORCH_EXPORT Tensor div(const Tensor& self, const Tensor& other);  // true division: integers give floating point
MINDTORCH_EXPORT Tensor div(const Tensor& self, const Scalar& other);
MINDTORCH_EXPORT Tensor neg(const Tensor& self);
MINDTORCH_EXPORT Tensor reciprocal(const Tensor& self);

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator+(const Tensor& a, const Scalar& b) { return add(a, b); }
inline Tensor operator+(const Scalar& a, const Tensor& b) { return add(b, a); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator-(const Tensor& a, const Scalar& b) { return sub(a, b); }
inline Tensor operator-(const Scalar& a, const Tensor& b) { return rsub(b, a); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator*(const Tensor& a, const Scalar& b) { return mul(a, b); }
inline Tensor operator*(const Scalar& a, const Tensor& b) { return mul(b, a); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator/(const Tensor& a, const Scalar& b) { return div(a, b); }
inline Tensor operator/(const Scalar& a, const Tensor& b) { return mul(reciprocal(b), a); }
inline Tensor operator-(const Tensor& a) { return neg(a); }

}  // namespace mindtorch
