// Gives a log its next segment, and applies the session's policy to the segments that it has. Internal to record.
#pragma once

#include <atomic>
#include <cstdint>

#include "mindtorch/record/log_storage.h"

namespace mindtorch::record {

// Ends the log's current segment and starts a new one. Returns false if that is refused, which is counted in `refusals`, or if the session
// is over. Called on the log's own thread.
bool new_segment(Log& log, std::atomic<std::uint64_t>& refusals) noexcept;

}  // namespace mindtorch::record
