// Kinds of steps: steps of about one duration, told apart where durations leave a gap. A loader with two workers gives two kinds: every
// second batch is there at once.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mindtorch/analyze/report/phases.h"

namespace mindtorch::analyze {

// Sets StepPhases::kind of each step. `stages` names the steps of serving engines, and is empty for others. The largest kind comes first.
std::vector<StepKind> step_kinds(std::vector<StepPhases>& steps, std::span<const std::string> stages);

}  // namespace mindtorch::analyze
