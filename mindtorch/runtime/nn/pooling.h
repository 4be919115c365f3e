// Pooling as modules.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/nn/convolution.h"

namespace mindtorch::nn {

struct MaxPool2dOptions {
  std::optional<Size2> stride = std::nullopt;  // the window's size by default
  Size2 padding = 0, dilation = 1;
  bool ceil_mode = false;
};
class MINDTORCH_EXPORT MaxPool2d : public Module {
 public:
  explicit MaxPool2d(Size2 kernel_size, const MaxPool2dOptions& options = {}) : kernel_size_(kernel_size), options_(options) {}
  Tensor forward(const Tensor& input) override {
    return max_pool2d(input, kernel_size_, options_.stride.value_or(kernel_size_), options_.padding, options_.dilation, options_.ceil_mode);
  }

 private:
  Size2 kernel_size_;
  MaxPool2dOptions options_;
};

struct AvgPool2dOptions {
  std::optional<Size2> stride = std::nullopt;
  Size2 padding = 0;
  bool ceil_mode = false;
  bool count_include_pad = true;
  std::optional<std::int64_t> divisor_override = std::nullopt;
};
class MINDTORCH_EXPORT AvgPool2d : public Module {
 public:
  explicit AvgPool2d(Size2 kernel_size, const AvgPool2dOptions& options = {}) : kernel_size_(kernel_size), options_(options) {}
  Tensor forward(const Tensor& input) override {
    return avg_pool2d(input, kernel_size_, options_.stride.value_or(kernel_size_), options_.padding, options_.ceil_mode,
                      options_.count_include_pad, options_.divisor_override);
  }

 private:
  Size2 kernel_size_;
  AvgPool2dOptions options_;
};

class MINDTORCH_EXPORT AdaptiveAvgPool2d : public Module {
 public:
  explicit AdaptiveAvgPool2d(Size2 output_size) : output_size_(output_size) {}
  Tensor forward(const Tensor& input) override { return adaptive_avg_pool2d(input, output_size_); }

 private:
  Size2 output_size_;
};

}  // namespace mindtorch::nn
