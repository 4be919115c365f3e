// New tensors. The options are the type (default float32), the device (default cpu) and requires_grad.
#pragma once

#include <span>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

MINDTORCH_EXPORT Tensor empty(IntArrayRef sizes, const TensorOptions& options = {});  // not initialised
MINDTORCH_EXPORT Tensor empty_strided(IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options = {});
MINDTORCH_EXPORT Tensor zeros(IntArrayRef sizes, const TensorOptions& options = {});
MINDTORCH_EXPORT Tensor ones(IntArrayRef sizes, const TensorOptions& options = {});
// Without a dtype, the type is that of the number: int64, bool, or the default floating point type.
MINDTORCH_EXPORT Tensor full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options = {});

// Of the shape of `self`; type and device are those of `self` unless the options say otherwise.
MINDTORCH_EXPORT Tensor empty_like(const Tensor& self, const TensorOptions& options = {});
MINDTORCH_EXPORT Tensor zeros_like(const Tensor& self, const TensorOptions& options = {});
MINDTORCH_EXPORT Tensor ones_like(const Tensor& self, const TensorOptions& options = {});
MINDTORCH_EXPORT Tensor full_like(const Tensor& self, const Scalar& value, const TensorOptions& options = {});

// A copy of host data, laid out row by row. Without a dtype, floating point becomes the default type and int becomes int64.
template <class T>
MINDTORCH_EXPORT Tensor tensor(std::span<const T> values, IntArrayRef sizes, const TensorOptions& options = {});
template <class T>
Tensor tensor(std::initializer_list<T> values, const TensorOptions& options = {}) {
  return tensor<T>(std::span<const T>(values.begin(), values.size()), {static_cast<std::int64_t>(values.size())}, options);
}
template <class T>
Tensor tensor(const std::vector<T>& values, IntArrayRef sizes, const TensorOptions& options = {}) {
  return tensor<T>(std::span<const T>(values), sizes, options);
}
MINDTORCH_EXPORT Tensor scalar_tensor(const Scalar& value, const TensorOptions& options = {});

// Wraps host memory of the caller as a tensor without a copy. `release` is called when the last tensor that uses it is destroyed.
MINDTORCH_EXPORT Tensor from_blob(void* data, IntArrayRef sizes, ScalarType dtype, std::function<void()> release = {});

}  // namespace mindtorch
