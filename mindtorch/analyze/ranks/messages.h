// Messages: with which rank, and with which tag, the calls of send and recv of a recording exchange data.
#pragma once

#include <vector>

#include "mindtorch/analyze/ranks/collectives.h"
#include "mindtorch/trace/rank_identity.h"

namespace mindtorch::analyze {

// Gloo's scopes do not tell their peer. The ops c10d::send and c10d::recv_ around their beginnings do, if their arguments were recorded.
// Sets `peer` and `tag` of such messages. They begin where the op begins: it may wait for the peer already.
void read_message_calls(const trace::Recording& recording, std::vector<FoundCollective>& collectives);

// Turns peers, which are places in a process group, into ranks of the job. A peer that depends on a group which is not known becomes -1.
void find_peer_ranks(const trace::RankIdentity& identity, std::vector<FoundCollective>& collectives);

}  // namespace mindtorch::analyze
