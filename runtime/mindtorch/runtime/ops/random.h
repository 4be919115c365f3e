// Random tensors. Random numbers come from default_generator(): see manual_seed().
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/generator.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

MINDTORCH_EXPORT Tensor rand(IntArrayRef sizes, const TensorOptions& options = {});   // uniform in [0, 1)
MINDTORCH_EXPORT Tensor randn(IntArrayRef sizes, const TensorOptions& options = {});  // normal, mean 0, deviation 1
MINDTORCH_EXPORT Tensor randint(std::int64_t low, std::int64_t high, IntArrayRef sizes,
                                const TensorOptions& options = {});  // [low, high), int64
MINDTORCH_EXPORT Tensor randperm(std::int64_t n, const TensorOptions& options = {});
MINDTORCH_EXPORT Tensor rand_like(const Tensor& self, const TensorOptions& options = {});
MINDTORCH_EXPORT Tensor randn_like(const Tensor& self, const TensorOptions& options = {});

}  // namespace mindtorch
