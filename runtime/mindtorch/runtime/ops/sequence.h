// Tensors made of sequences.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

// [start, end) in steps; int64 if all arguments are integers.
MINDTORCH_EXPORT Tensor arange(const Scalar& end, const TensorOptions& options = {});
MINDTORCH_EXPORT Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options = {});
MINDTORCH_EXPORT Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options = {});
MINDTORCH_EXPORT Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps,
                                 const TensorOptions& options = {});  // both ends included
MINDTORCH_EXPORT Tensor eye(std::int64_t n, const TensorOptions& options = {});
MINDTORCH_EXPORT Tensor eye(std::int64_t n, std::int64_t m, const TensorOptions& options = {});

}  // namespace mindtorch
