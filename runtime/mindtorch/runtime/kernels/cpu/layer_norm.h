// Kernels of normalisation over the last dimensions: layer_norm and rms_norm.
#pragma once

#include <cstdint>

#include "mindtorch/runtime/device.h"
#include "mindtorch/runtime/scalar_type.h"

namespace mindtorch::cpu {

// A contiguous tensor seen as rows, each normalised by itself.
struct RowShape {
  ScalarType type;
  std::int64_t rows, width;
  void map_addresses(const AddressMap&) {}
};

// out = (in - mean) * rstd * weight + bias. Writes mean and rstd, one for each row. Without `mean` (null) nothing is subtracted and rstd is
// that of the root mean square. `weight` and `bias` may be null.
void layer_norm(const RowShape& shape, double eps, void* out, void* mean, void* rstd, const void* in, const void* weight, const void* bias);

// Gradients of `in`, `weight` and `bias`; those that are null are not computed. `mean` is null as above. The sums over rows are the same
// whatever the number of threads.
struct LayerNormGrads {
  void *in, *weight, *bias;
  void map_addresses(const AddressMap& map) {
    in = map(in);
    weight = map(weight);
    bias = map(bias);
  }
};
void layer_norm_backward(const RowShape& shape, const LayerNormGrads& grads, const void* grad, const void* in, const void* mean,
                         const void* rstd, const void* weight);

}  // namespace mindtorch::cpu
