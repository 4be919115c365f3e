// The cost model: what a call of an op has to compute and to move at least, from its recorded arguments.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "mindtorch/analyze/arguments.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

struct OpCost {
  double flops = 0;                                     // that the op has to compute; a multiply-add counts two
  double recomputed = 0;                                // of them: what backward attention computes again instead of keeping it
  double bytes = 0;                                     // each operand read once and each result written once
  bool has_bytes = false;                               // false if the type of an operand is not known
  bool is_product = false;                              // a matrix product, a convolution or attention: what units for matrices compute
  trace::ScalarType dtype = trace::ScalarType::kOther;  // in which it is computed
};

// Of an op ("aten::mm"), or of a kernel that Inductor generated ("triton_poi_fused_add_mul_0"). Empty if it has no model, or its arguments
// do not say enough.
MINDTORCH_EXPORT std::optional<OpCost> op_cost(std::string_view op, std::span<const Argument> arguments);

// False if no arguments give this op a cost.
bool has_cost_model(std::string_view op);

// True for an op that calls others for its work (aten::linear): its model counts only where none of those was recorded.
bool is_made_of_others(std::string_view op);

// Size of an element, 0 if it is not known.
MINDTORCH_EXPORT int element_size(trace::ScalarType type);

}  // namespace mindtorch::analyze
