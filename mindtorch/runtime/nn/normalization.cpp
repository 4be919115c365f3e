// Normalisation as modules.
#include "mindtorch/runtime/nn/normalization.h"

#include "mindtorch/runtime/functions.h"

namespace mindtorch::nn {

LayerNorm::LayerNorm(IntArrayRef normalized_shape, const LayerNormOptions& norm, const TensorOptions& options)
    : weight(register_parameter("weight", norm.elementwise_affine ? ones(normalized_shape, options) : Tensor())),
      bias(register_parameter("bias", norm.elementwise_affine && norm.bias ? zeros(normalized_shape, options) : Tensor())),
      normalized_shape_(normalized_shape),
      eps_(norm.eps) {}

Tensor LayerNorm::forward(const Tensor& input) { return layer_norm(input, normalized_shape_, weight, bias, eps_); }

RMSNorm::RMSNorm(IntArrayRef normalized_shape, const RMSNormOptions& norm, const TensorOptions& options)
    : weight(register_parameter("weight", norm.elementwise_affine ? ones(normalized_shape, options) : Tensor())),
      normalized_shape_(normalized_shape),
      eps_(norm.eps) {}

Tensor RMSNorm::forward(const Tensor& input) { return rms_norm(input, normalized_shape_, weight, eps_); }

GroupNorm::GroupNorm(std::int64_t num_groups, std::int64_t num_channels, const GroupNormOptions& norm, const TensorOptions& options)
    : num_groups_(num_groups), eps_(norm.eps) {
  if (num_groups <= 0 || num_channels % num_groups != 0)
    throw_error<InvalidArgument>("nn.GroupNorm", "num_channels ({}) must be divisible by num_groups ({})", num_channels, num_groups);
  weight = register_parameter("weight", norm.affine ? ones({num_channels}, options) : Tensor());
  bias = register_parameter("bias", norm.affine ? zeros({num_channels}, options) : Tensor());
}

Tensor GroupNorm::forward(const Tensor& input) { return group_norm(input, num_groups_, weight, bias, eps_); }

BatchNorm::BatchNorm(std::int64_t num_features, const BatchNormOptions& norm, const TensorOptions& options)
    : weight(register_parameter("weight", norm.affine ? ones({num_features}, options) : Tensor())),
      bias(register_parameter("bias", norm.affine ? zeros({num_features}, options) : Tensor())),
      running_mean(register_buffer("running_mean", norm.track_running_stats ? zeros({num_features}, options) : Tensor())),
      running_var(register_buffer("running_var", norm.track_running_stats ? ones({num_features}, options) : Tensor())),
      num_batches_tracked(register_buffer("num_batches_tracked",
                                          norm.track_running_stats ? zeros({}, {.dtype = kInt64, .device = options.device}) : Tensor())),
      norm_(norm) {}

Tensor BatchNorm::forward(const Tensor& input) {
  check_dims(input.dim());
  double momentum = norm_.momentum.value_or(0);
  if (is_training() && num_batches_tracked.defined()) {
    num_batches_tracked.add_(1);
    if (!norm_.momentum) momentum = 1 / num_batches_tracked.item<double>();
  }
  const bool uses_batch = is_training() || !running_mean.defined();
  return batch_norm(input, weight, bias, running_mean, running_var, uses_batch, momentum, norm_.eps);
}

void BatchNorm1d::check_dims(std::int64_t dims) const {
  if (dims != 2 && dims != 3) throw_error<InvalidArgument>("nn.BatchNorm1d", "expected 2D or 3D input (got {}D input)", dims);
}

void BatchNorm2d::check_dims(std::int64_t dims) const {
  if (dims != 4) throw_error<InvalidArgument>("nn.BatchNorm2d", "expected 4D input (got {}D input)", dims);
}

}  // namespace mindtorch::nn
