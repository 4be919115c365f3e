// FLOPs of op calls, from the shapes and scalars recorded with them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "mindtorch/analyze/arguments.h"
#include "mindtorch/base/export.h"

namespace mindtorch::analyze {

// How the floating point operations of one op are counted; a multiply-add counts two. 0 where the arguments do not say enough.
using FlopFormula = std::int64_t (*)(std::span<const Argument> arguments);

// Returns the formula of an op ("aten::mm" or "mm"), or null if the op has no formula.
MINDTORCH_EXPORT FlopFormula flop_formula(std::string_view op);

// Names of all ops with a formula, without namespace.
MINDTORCH_EXPORT std::vector<std::string_view> ops_with_flops();

}  // namespace mindtorch::analyze
