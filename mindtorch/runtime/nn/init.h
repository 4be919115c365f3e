// Initial values of parameters: torch.nn.init. All functions write to their argument and return it. Random numbers come from the default
// generator.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch::nn::init {

MINDTORCH_EXPORT Tensor uniform_(const Tensor& tensor, double low = 0, double high = 1);
MINDTORCH_EXPORT Tensor normal_(const Tensor& tensor, double mean = 0, double std = 1);
MINDTORCH_EXPORT Tensor constant_(const Tensor& tensor, double value);
MINDTORCH_EXPORT Tensor zeros_(const Tensor& tensor);
MINDTORCH_EXPORT Tensor ones_(const Tensor& tensor);

// The number of inputs of one output (fan_in) and of outputs of one input (fan_out). Throws for fewer than two dimensions.
struct Fans {
  std::int64_t in, out;
};
MINDTORCH_EXPORT Fans fans_of(const Tensor& tensor);

enum class FanMode { kFanIn, kFanOut };
enum class Nonlinearity { kLinear, kSigmoid, kTanh, kRelu, kLeakyRelu };
// The factor that compensates for the effect of the nonlinearity on the standard deviation. `parameter` is the slope of leaky_relu.
MINDTORCH_EXPORT double calculate_gain(Nonlinearity nonlinearity, double parameter = 0.01);

MINDTORCH_EXPORT Tensor xavier_uniform_(const Tensor& tensor, double gain = 1);
MINDTORCH_EXPORT Tensor xavier_normal_(const Tensor& tensor, double gain = 1);
MINDTORCH_EXPORT Tensor kaiming_uniform_(const Tensor& tensor, double a = 0, FanMode mode = FanMode::kFanIn,
                                         Nonlinearity nonlinearity = Nonlinearity::kLeakyRelu);
MINDTORCH_EXPORT Tensor kaiming_normal_(const Tensor& tensor, double a = 0, FanMode mode = FanMode::kFanIn,
                                        Nonlinearity nonlinearity = Nonlinearity::kLeakyRelu);

}  // namespace mindtorch::nn::init
