// Kernels of powers and of fused updates. Operand 0 is the output.
#pragma once

#include "mindtorch/runtime/loop_plan.h"

namespace mindtorch::cpu {

// a ** b. Integers wrap around; a negative exponent of an integer gives 0, 1 or -1, as integer division would.
void pow(ScalarType type, const LoopPlan<3>& plan);
// a ** exponent: small exponents without a call of the C library.
void pow_number(ScalarType type, const LoopPlan<2>& plan, const Scalar& exponent);

// a + value * b * c, a + value * b / c, a + c * (b - a)
void addcmul(ScalarType type, const LoopPlan<4>& plan, const Scalar& value);
void addcdiv(ScalarType type, const LoopPlan<4>& plan, const Scalar& value);
void lerp(ScalarType type, const LoopPlan<4>& plan);

}  // namespace mindtorch::cpu
