// Kernels that compare and select. Operand 0 is the output.
#pragma once

#include "mindtorch/runtime/loop_plan.h"

namespace mindtorch::cpu {

// Inputs of type `type`, output bool.
void eq(ScalarType type, const LoopPlan<3>& plan);
void ne(ScalarType type, const LoopPlan<3>& plan);
void lt(ScalarType type, const LoopPlan<3>& plan);
void le(ScalarType type, const LoopPlan<3>& plan);
void gt(ScalarType type, const LoopPlan<3>& plan);
void ge(ScalarType type, const LoopPlan<3>& plan);
void logical_and(ScalarType type, const LoopPlan<3>& plan);
void logical_or(ScalarType type, const LoopPlan<3>& plan);

// NaN if either is.
void maximum(ScalarType type, const LoopPlan<3>& plan);
void minimum(ScalarType type, const LoopPlan<3>& plan);

// mask ? a : b; operand 1 is the mask, of bool.
void where(ScalarType type, const LoopPlan<4>& plan);
// min(max(a, low), high); NaN stays.
void clamp(ScalarType type, const LoopPlan<4>& plan);

}  // namespace mindtorch::cpu
