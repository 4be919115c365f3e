// Efficiency as a text for people.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "mindtorch/analyze/efficiency/efficiency.h"

namespace mindtorch::mtprof {

enum class EfficiencyTable { kOps, kKernels, kModules, kSteps };

// "ops", "kernels", "modules", "steps".
EfficiencyTable efficiency_table(std::string_view name);

// The devices, one table with at most `most_rows` rows, what has no model, and the summary.
std::string efficiency_text(const analyze::Efficiency& efficiency, EfficiencyTable table, std::size_t most_rows);

}  // namespace mindtorch::mtprof
