// Convolutions as modules.
#include "mindtorch/runtime/nn/convolution.h"

#include <cmath>

#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/nn/init.h"

namespace mindtorch::nn {

namespace {

std::int64_t group_channels(std::int64_t in_channels, std::int64_t out_channels, std::int64_t groups, const char* module) {
  if (groups <= 0) throw_error<InvalidArgument>(module, "groups must be a positive integer, got {}", groups);
  if (in_channels % groups != 0)
    throw_error<InvalidArgument>(module, "in_channels must be divisible by groups, got {} and {}", in_channels, groups);
  if (out_channels % groups != 0)
    throw_error<InvalidArgument>(module, "out_channels must be divisible by groups, got {} and {}", out_channels, groups);
  return in_channels / groups;
}

void reset_parameters(const Tensor& weight, const Tensor& bias) {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  const std::int64_t fan_in = init::fans_of(weight).in;
  if (!bias.defined() || fan_in == 0) return;
  const double bound = 1 / std::sqrt(static_cast<double>(fan_in));
  init::uniform_(bias, -bound, bound);
}

}  // namespace

Conv1d::Conv1d(std::int64_t in_channels, std::int64_t out_channels, std::int64_t kernel_size, const Conv1dOptions& convolution,
               const TensorOptions& options)
    : convolution_(convolution) {
  const std::int64_t channels = group_channels(in_channels, out_channels, convolution.groups, "nn.Conv1d");
  weight = register_parameter("weight", empty({out_channels, channels, kernel_size}, options));
  bias = register_parameter("bias", convolution.bias ? empty({out_channels}, options) : Tensor());
  reset_parameters(weight, bias);
}

Tensor Conv1d::forward(const Tensor& input) {
  return conv1d(input, weight, bias, convolution_.stride, convolution_.padding, convolution_.dilation, convolution_.groups);
}

Conv2d::Conv2d(std::int64_t in_channels, std::int64_t out_channels, Size2 kernel_size, const Conv2dOptions& convolution,
               const TensorOptions& options)
    : convolution_(convolution) {
  const std::int64_t channels = group_channels(in_channels, out_channels, convolution.groups, "nn.Conv2d");
  weight = register_parameter("weight", empty({out_channels, channels, kernel_size.values[0], kernel_size.values[1]}, options));
  bias = register_parameter("bias", convolution.bias ? empty({out_channels}, options) : Tensor());
  reset_parameters(weight, bias);
}

Tensor Conv2d::forward(const Tensor& input) {
  return conv2d(input, weight, bias, convolution_.stride, convolution_.padding, convolution_.dilation, convolution_.groups);
}

}  // namespace mindtorch::nn
