// Random tensors. Random numbers come from default_generator(): see manual_seed().
#pragma once

#include "mindtorch/runtime/generator.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

Tensor rand(IntArrayRef sizes, const TensorOptions& options = {});                                          // uniform in [0, 1)
Tensor randn(IntArrayRef sizes, const TensorOptions& options = {});                                         // normal, mean 0, deviation 1
Tensor randint(std::int64_t low, std::int64_t high, IntArrayRef sizes, const TensorOptions& options = {});  // [low, high), int64
Tensor randperm(std::int64_t n, const TensorOptions& options = {});
Tensor rand_like(const Tensor& self, const TensorOptions& options = {});
Tensor randn_like(const Tensor& self, const TensorOptions& options = {});

}  // namespace mindtorch
