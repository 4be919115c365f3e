// Kernels of reductions.
#pragma once

#include "mindtorch/runtime/reduce_plan.h"
#include "mindtorch/runtime/scalar_type.h"

namespace mindtorch::cpu {

// The sum times `scale`; input and output of type `type`. Scale 1/n gives the mean.
void sum(ScalarType type, const ReducePlan& plan, double scale);

}  // namespace mindtorch::cpu
