// How a log gets its next segment, and what the policy of the session does with those it has. Internal to record.
#pragma once

#include <atomic>
#include <cstdint>

#include "mindtorch/record/log_storage.h"

namespace mindtorch::record {

// Ends the log's current segment and starts a new one. False if that is refused, which is counted in `refusals`, or the session is over. On
// the log's own thread.
bool new_segment(Log& log, std::atomic<std::uint64_t>& refusals) noexcept;

}  // namespace mindtorch::record
