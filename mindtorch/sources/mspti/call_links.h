// Which call made which correlation id.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "mindtorch/record/device_batch.h"

namespace mindtorch::sources::mspti {

// MSPTI gives each call the id that its thread had when the call ended: that of the latest launch, which may be long past. On a thread, an
// id was made by the first call that ended with it. That call keeps the id; later ones, and calls around it, lose theirs. The first call of
// a thread may have the id of a launch before the recording: it keeps the id only if it is a launch, or if the id is one of
// `ids_of_memory_calls`. Records may be in any order, because buffers arrive in any order.
void keep_ids_of_makers(std::vector<record::DeviceRecord>& records, const std::unordered_set<std::uint64_t>& ids_of_memory_calls);

}  // namespace mindtorch::sources::mspti
