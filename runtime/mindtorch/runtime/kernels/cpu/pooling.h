// Kernels of pooling over two dimensions. Images are the contiguous planes of a tensor: batch and channels are one dimension, `planes`.
#pragma once

#include "mindtorch/runtime/device.h"
#include "mindtorch/runtime/kernels/cpu/window.h"
#include "mindtorch/runtime/scalar_type.h"

namespace mindtorch::cpu {

// `indices` gets the position of each maximum in its plane, the first of several; NaN counts as the largest. Planes have less than 2^31
// pixels.
void max_pool(ScalarType type, const Window& window, std::int64_t planes, void* out, std::int64_t* indices, const void* in);
// Into grad_in, which holds zeros.
void max_pool_backward(ScalarType type, const Window& window, std::int64_t planes, void* grad_in, const void* grad,
                       const std::int64_t* indices);

// A sum over each window times a factor. divisor_override replaces the number of elements; 0 means none.
struct AveragePool {
  Window window;
  bool count_include_pad;
  std::int64_t divisor_override;
  void map_addresses(const AddressMap&) {}
};
void avg_pool(ScalarType type, const AveragePool& pool, std::int64_t planes, void* out, const void* in);
void avg_pool_backward(ScalarType type, const AveragePool& pool, std::int64_t planes, void* grad_in, const void* grad);

// Windows that cut an image into out_h * out_w parts of nearly the same size.
struct AdaptivePool {
  std::int64_t in_h, in_w, out_h, out_w;
  void map_addresses(const AddressMap&) {}
};
void adaptive_avg_pool(ScalarType type, const AdaptivePool& pool, std::int64_t planes, void* out, const void* in);
void adaptive_avg_pool_backward(ScalarType type, const AdaptivePool& pool, std::int64_t planes, void* grad_in, const void* grad);

}  // namespace mindtorch::cpu
