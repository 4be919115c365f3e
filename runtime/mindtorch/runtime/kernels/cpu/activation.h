// Kernels of activation functions. Operand 0 is the output; all operands have the floating point type `type`. A backward kernel reads the
// incoming gradient as first input and the function's own input as second.
#pragma once

#include "mindtorch/runtime/device.h"
#include "mindtorch/runtime/loop_plan.h"

namespace mindtorch::cpu {

enum class Gelu : std::uint8_t { kErf, kTanh };
void gelu(ScalarType type, const LoopPlan<2>& plan, Gelu kind);
void gelu_backward(ScalarType type, const LoopPlan<3>& plan, Gelu kind);

void silu(ScalarType type, const LoopPlan<2>& plan);
void silu_backward(ScalarType type, const LoopPlan<3>& plan);

void leaky_relu(ScalarType type, const LoopPlan<2>& plan, double slope);
void leaky_relu_backward(ScalarType type, const LoopPlan<3>& plan, double slope);

// x > 0: scale * x, else scale * alpha * (exp(input_scale * x) - 1).
struct Elu {
  double alpha, scale, input_scale;
  void map_addresses(const AddressMap&) {}
};
void elu(ScalarType type, const LoopPlan<2>& plan, const Elu& shape);
// `from_result`: the second input is the function's result instead of its input.
void elu_backward(ScalarType type, const LoopPlan<3>& plan, const Elu& shape, bool from_result);

// log(1 + exp(beta * x)) / beta; x itself where beta * x > threshold.
struct Softplus {
  double beta, threshold;
  void map_addresses(const AddressMap&) {}
};
void softplus(ScalarType type, const LoopPlan<2>& plan, const Softplus& shape);
void softplus_backward(ScalarType type, const LoopPlan<3>& plan, const Softplus& shape);

void log_sigmoid(ScalarType type, const LoopPlan<2>& plan);
void log_sigmoid_backward(ScalarType type, const LoopPlan<3>& plan);

}  // namespace mindtorch::cpu
