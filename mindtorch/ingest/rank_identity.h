// Reads from the metadata of a recording which process of a job made it.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/trace/rank_identity.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::ingest {

// From "distributedInfo" and "host_name", which this library and torch.profiler write. Values that are missing or of another type are
// unknown in the result; nothing is thrown.
MINDTORCH_EXPORT trace::RankIdentity rank_identity(const trace::Recording& recording);

}  // namespace mindtorch::ingest
