// Convolutions as modules.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/nn/module.h"

namespace mindtorch::nn {

// Height and width; one number stands for both.
struct Size2 {
  Size2(std::int64_t both) : values{both, both} {}
  Size2(std::int64_t height, std::int64_t width) : values{height, width} {}
  operator IntArrayRef() const { return {values, 2}; }
  std::int64_t values[2];
};

struct Conv1dOptions {
  std::int64_t stride = 1, padding = 0, dilation = 1, groups = 1;
  bool bias = true;
};
class MINDTORCH_EXPORT Conv1d : public Module {
 public:
  Conv1d(std::int64_t in_channels, std::int64_t out_channels, std::int64_t kernel_size, const Conv1dOptions& convolution = {},
         const TensorOptions& options = {});
  Tensor forward(const Tensor& input) override;

  Tensor weight;  // [out_channels, in_channels / groups, kernel_size]
  Tensor bias;    // [out_channels], or undefined

 private:
  Conv1dOptions convolution_;
};

struct Conv2dOptions {
  Size2 stride = 1, padding = 0, dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
};
class MINDTORCH_EXPORT Conv2d : public Module {
 public:
  Conv2d(std::int64_t in_channels, std::int64_t out_channels, Size2 kernel_size, const Conv2dOptions& convolution = {},
         const TensorOptions& options = {});
  Tensor forward(const Tensor& input) override;

  Tensor weight;  // [out_channels, in_channels / groups, height, width]
  Tensor bias;    // [out_channels], or undefined

 private:
  Conv2dOptions convolution_;
};

}  // namespace mindtorch::nn
