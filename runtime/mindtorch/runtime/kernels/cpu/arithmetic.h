// Kernels of addition, subtraction, multiplication, division. Operand 0 is the output; all operands have type `type`.
#pragma once

#include "mindtorch/runtime/loop_plan.h"

namespace mindtorch::cpu {

void add(ScalarType type, const LoopPlan<3>& plan, const Scalar& alpha);   // a + alpha * b
void rsub(ScalarType type, const LoopPlan<3>& plan, const Scalar& alpha);  // b - alpha * a
void mul(ScalarType type, const LoopPlan<3>& plan);
void div(ScalarType type, const LoopPlan<3>& plan);  // floating point
void neg(ScalarType type, const LoopPlan<2>& plan);
void reciprocal(ScalarType type, const LoopPlan<2>& plan);  // floating point

}  // namespace mindtorch::cpu
