// How the out-of-line hooks reach their thread's log. Internal to record.
#pragma once

#include <cstdint>

#include "mindtorch/record/log_storage.h"

namespace mindtorch::record {

// This thread's log, taking part in the session of `state`. Null if that session is over, or does not admit this thread.
Log* attached_log(std::uint64_t state) noexcept;

// This thread's log; only valid once attached_log() has succeeded on the thread.
Log* own_log() noexcept;

}  // namespace mindtorch::record
