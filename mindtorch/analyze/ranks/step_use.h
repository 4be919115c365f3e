// What the moments of each step of a rank were spent on.
#pragma once

#include <span>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/ranks/collectives.h"
#include "mindtorch/analyze/ranks/rank_summary.h"
#include "mindtorch/analyze/report/phases.h"

namespace mindtorch::analyze {

// One entry for each entry of phases.steps(), with the times of the recording. O(events * log events).
std::vector<RankStep> step_use(const Analysis& analysis, const Phases& phases, std::span<const FoundCollective> collectives);

}  // namespace mindtorch::analyze
