// The time that each op, scope and kernel of a rank took in each step.
#pragma once

#include <span>
#include <vector>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/analyze/ranks/collectives.h"
#include "mindtorch/analyze/ranks/rank_summary.h"
#include "mindtorch/analyze/report/phases.h"

namespace mindtorch::analyze {

inline constexpr std::string_view kPythonWork = "Python (outside of ops and scopes)";

// Self times on the host, of all threads, and the times of kernels. Time of a scope or of Python in which nothing but a collective goes on
// is left out: that is waiting. Rows of equal name and kind are one, with most time first. O(events * log steps).
std::vector<RankWork> work_times(const Analysis& analysis, const Phases& phases, std::span<const FoundCollective> collectives);

}  // namespace mindtorch::analyze
