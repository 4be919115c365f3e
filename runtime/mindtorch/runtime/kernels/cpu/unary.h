// Kernels of functions of one element. Operand 0 is the output.
#pragma once

#include "mindtorch/runtime/loop_plan.h"

namespace mindtorch::cpu {

// Any type.
void abs(ScalarType type, const LoopPlan<2>& plan);
void sign(ScalarType type, const LoopPlan<2>& plan);
void relu(ScalarType type, const LoopPlan<2>& plan);
void floor(ScalarType type, const LoopPlan<2>& plan);
void ceil(ScalarType type, const LoopPlan<2>& plan);
void round(ScalarType type, const LoopPlan<2>& plan);  // halves to even
void trunc(ScalarType type, const LoopPlan<2>& plan);
void logical_not(ScalarType type, const LoopPlan<2>& plan);  // output is bool

// Floating point.
void exp(ScalarType type, const LoopPlan<2>& plan);
void expm1(ScalarType type, const LoopPlan<2>& plan);
void log(ScalarType type, const LoopPlan<2>& plan);
void log1p(ScalarType type, const LoopPlan<2>& plan);
void log2(ScalarType type, const LoopPlan<2>& plan);
void sqrt(ScalarType type, const LoopPlan<2>& plan);
void rsqrt(ScalarType type, const LoopPlan<2>& plan);
void sin(ScalarType type, const LoopPlan<2>& plan);
void cos(ScalarType type, const LoopPlan<2>& plan);
void tanh(ScalarType type, const LoopPlan<2>& plan);
void sigmoid(ScalarType type, const LoopPlan<2>& plan);
void erf(ScalarType type, const LoopPlan<2>& plan);

// Derivatives: out = grad * f'(x), where x is the result (tanh, sigmoid) or the input (threshold: grad where x > threshold, else 0).
void tanh_backward(ScalarType type, const LoopPlan<3>& plan);
void sigmoid_backward(ScalarType type, const LoopPlan<3>& plan);
void threshold_backward(ScalarType type, const LoopPlan<3>& plan, const Scalar& threshold);

}  // namespace mindtorch::cpu
