// Tells the process groups of Gloo's collectives apart, which Gloo does not name.
#pragma once

#include <vector>

#include "mindtorch/analyze/ranks/collectives.h"
#include "mindtorch/trace/rank_identity.h"

namespace mindtorch::analyze {

// Each group of Gloo has two worker threads of its own, which are started when the group is made. So the threads on which collectives ran,
// in the order of their numbers, belong to the groups in the order in which the rank lists them. Sets the group of collectives that have
// none, if the rank is in several groups of more than one rank and the threads tell clearly which is whose; otherwise changes nothing.
void name_gloo_groups(const trace::Recording& recording, const trace::RankIdentity& identity, std::vector<FoundCollective>& collectives);

}  // namespace mindtorch::analyze
