// Tensors made of sequences.
#pragma once

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

// [start, end) in steps; int64 if all arguments are integers.
Tensor arange(const Scalar& end, const TensorOptions& options = {});
Tensor arange(const Scalar& start, const Scalar& end, const TensorOptions& options = {});
Tensor arange(const Scalar& start, const Scalar& end, const Scalar& step, const TensorOptions& options = {});
Tensor linspace(const Scalar& start, const Scalar& end, std::int64_t steps, const TensorOptions& options = {});  // both ends included
Tensor eye(std::int64_t n, const TensorOptions& options = {});
Tensor eye(std::int64_t n, std::int64_t m, const TensorOptions& options = {});

}  // namespace mindtorch
