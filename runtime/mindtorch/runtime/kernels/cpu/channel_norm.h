// Kernels of normalisation by channel or group of channels: batch_norm and group_norm.
#pragma once

#include <cstdint>

#include "mindtorch/runtime/device.h"
#include "mindtorch/runtime/scalar_type.h"

namespace mindtorch::cpu {

// A contiguous tensor seen as [batch, channels, inner].
struct ChannelShape {
  ScalarType type;
  std::int64_t batch, channels, inner;
  void map_addresses(const AddressMap&) {}
};

// y = (x - mean) * rstd * weight + bias; weight and bias (one element per channel) may be null.
struct ChannelAffine {
  const void *weight, *bias;
  void map_addresses(const AddressMap& map) {
    weight = map(weight);
    bias = map(bias);
  }
};

// With the mean and variance of each channel over the batch, which are written to save_mean and save_rstd. The running estimates, if given,
// move towards them by `momentum`.
struct RunningMoments {
  void *mean, *var;  // null: none are kept
  double momentum;
  void map_addresses(const AddressMap& map) {
    mean = map(mean);
    var = map(var);
  }
};
void batch_norm_train(const ChannelShape& shape, double eps, void* out, void* save_mean, void* save_rstd, const void* in,
                      const ChannelAffine& affine, const RunningMoments& running);
// With known mean and variance.
void batch_norm_eval(const ChannelShape& shape, double eps, void* out, const void* in, const ChannelAffine& affine, const void* mean,
                     const void* var);

// Gradients that are null are not computed.
struct ChannelNormGrads {
  void *in, *weight, *bias;
  void map_addresses(const AddressMap& map) {
    in = map(in);
    weight = map(weight);
    bias = map(bias);
  }
};
void batch_norm_train_backward(const ChannelShape& shape, const ChannelNormGrads& grads, const void* grad, const void* in,
                               const void* weight, const void* save_mean, const void* save_rstd);
void batch_norm_eval_backward(const ChannelShape& shape, double eps, const ChannelNormGrads& grads, const void* grad, const void* in,
                              const void* weight, const void* mean, const void* var);

// With the moments of each image's groups of channels; `mean` and `rstd` are [batch, groups].
void group_norm(const ChannelShape& shape, std::int64_t groups, double eps, void* out, void* mean, void* rstd, const void* in,
                const ChannelAffine& affine);
void group_norm_backward(const ChannelShape& shape, std::int64_t groups, const ChannelNormGrads& grads, const void* grad, const void* in,
                         const void* weight, const void* mean, const void* rstd);

}  // namespace mindtorch::cpu
