// What each device of a rank did: compute, communication, both at once, nothing.
#pragma once

#include <span>
#include <vector>

#include "mindtorch/analyze/ranks/collectives.h"
#include "mindtorch/analyze/ranks/rank_summary.h"

namespace mindtorch::analyze {

// One entry for each device with work, in the order of devices. O(activities * log activities).
std::vector<RankDevice> device_use(const trace::Recording& recording, std::span<const FoundCollective> collectives);

}  // namespace mindtorch::analyze
