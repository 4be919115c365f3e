// Tells the process groups of Gloo's collectives apart, which Gloo does not name.
#pragma once

#include <vector>

#include "mindtorch/analyze/ranks/collectives.h"
#include "mindtorch/trace/rank_identity.h"

namespace mindtorch::analyze {

// Each group of Gloo has worker threads of its own, which are started when the group is made. So the threads on which collectives ran, in
// the order of their numbers, belong to the groups in the order in which the rank lists them. Our recordings tell how many collectives each
// group counted, which says where the threads of one group end and those of the next begin. Without these numbers it is assumed that each
// group has two threads, which is torch's default. Sets the group of collectives that have none, if the rank is in several groups of more
// than one rank and there is only one possibility; otherwise changes nothing. Calls between two ranks run on the threads of their callers
// and are not named.
void name_gloo_groups(const trace::Recording& recording, const trace::RankIdentity& identity, std::vector<FoundCollective>& collectives);

}  // namespace mindtorch::analyze
