// Kernels that copy, convert and fill.
#pragma once

#include "mindtorch/runtime/loop_plan.h"

namespace mindtorch::cpu {

// Operand 0 of type `to` becomes operand 1 of type `from`, converted.
void copy(ScalarType to, ScalarType from, const LoopPlan<2>& plan);
void fill(ScalarType type, const LoopPlan<1>& plan, const Scalar& value);

}  // namespace mindtorch::cpu
