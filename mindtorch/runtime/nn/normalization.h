// Normalisation as modules.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/nn/module.h"

namespace mindtorch::nn {

struct LayerNormOptions {
  double eps = 1e-5;
  bool elementwise_affine = true;
  bool bias = true;
};
class MINDTORCH_EXPORT LayerNorm : public Module {
 public:
  explicit LayerNorm(IntArrayRef normalized_shape, const LayerNormOptions& norm = {}, const TensorOptions& options = {});
  Tensor forward(const Tensor& input) override;
  Tensor weight, bias;  // undefined if the layer has no such parameters

 private:
  DimVector normalized_shape_;
  double eps_;
};

struct RMSNormOptions {
  std::optional<double> eps = std::nullopt;  // the machine epsilon by default
  bool elementwise_affine = true;
};
class MINDTORCH_EXPORT RMSNorm : public Module {
 public:
  explicit RMSNorm(IntArrayRef normalized_shape, const RMSNormOptions& norm = {}, const TensorOptions& options = {});
  Tensor forward(const Tensor& input) override;
  Tensor weight;  // undefined if the layer has no such parameters

 private:
  DimVector normalized_shape_;
  std::optional<double> eps_;
};

struct GroupNormOptions {
  double eps = 1e-5;
  bool affine = true;
};
class MINDTORCH_EXPORT GroupNorm : public Module {
 public:
  GroupNorm(std::int64_t num_groups, std::int64_t num_channels, const GroupNormOptions& norm = {}, const TensorOptions& options = {});
  Tensor forward(const Tensor& input) override;
  Tensor weight, bias;  // undefined if the layer has no such parameters

 private:
  std::int64_t num_groups_;
  double eps_;
};

struct BatchNormOptions {
  double eps = 1e-5;
  std::optional<double> momentum = 0.1;  // unset: the running moments are averages over all batches
  bool affine = true;
  bool track_running_stats = true;  // without, the moments of the batch are used in evaluation too
};
class MINDTORCH_EXPORT BatchNorm : public Module {
 public:
  Tensor forward(const Tensor& input) override;
  Tensor weight, bias;                                    // undefined if the layer has no such parameters
  Tensor running_mean, running_var, num_batches_tracked;  // undefined if nothing is tracked

 protected:
  BatchNorm(std::int64_t num_features, const BatchNormOptions& norm, const TensorOptions& options);
  // Throws if the module does not accept an input of so many dimensions.
  virtual void check_dims(std::int64_t dims) const = 0;

 private:
  BatchNormOptions norm_;
};

// Of [batch, channels] or [batch, channels, length].
class MINDTORCH_EXPORT BatchNorm1d : public BatchNorm {
 public:
  explicit BatchNorm1d(std::int64_t num_features, const BatchNormOptions& norm = {}, const TensorOptions& options = {})
      : BatchNorm(num_features, norm, options) {}

 protected:
  void check_dims(std::int64_t dims) const override;
};

// Of [batch, channels, height, width].
class MINDTORCH_EXPORT BatchNorm2d : public BatchNorm {
 public:
  explicit BatchNorm2d(std::int64_t num_features, const BatchNormOptions& norm = {}, const TensorOptions& options = {})
      : BatchNorm(num_features, norm, options) {}

 protected:
  void check_dims(std::int64_t dims) const override;
};

}  // namespace mindtorch::nn
