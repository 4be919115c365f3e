// Kernels of softmax and log_softmax over one dimension of contiguous floating point tensors.
#pragma once

#include <cstdint>

#include "mindtorch/runtime/device.h"
#include "mindtorch/runtime/scalar_type.h"

namespace mindtorch::cpu {

// A contiguous tensor seen as [outer, size, inner]; the dimension in the middle is the one that sums to 1.
struct SoftmaxShape {
  std::int64_t outer, size, inner;
  void map_addresses(const AddressMap&) {}
};

void softmax(ScalarType type, const SoftmaxShape& shape, void* out, const void* in);
// The same, but all zeros where all inputs are minus infinity, instead of NaN.
void safe_softmax(ScalarType type, const SoftmaxShape& shape, void* out, const void* in);
void log_softmax(ScalarType type, const SoftmaxShape& shape, void* out, const void* in);

// The gradient of the input from that of the output and the output itself.
void softmax_backward(ScalarType type, const SoftmaxShape& shape, void* grad_in, const void* grad, const void* output);
void log_softmax_backward(ScalarType type, const SoftmaxShape& shape, void* grad_in, const void* grad, const void* output);

}  // namespace mindtorch::cpu
