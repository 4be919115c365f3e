// How the out-of-line hooks reach their thread's log. Internal to record.
#pragma once

#include <cstdint>

#include "mindtorch/record/log_storage.h"

namespace mindtorch::record {

// Returns this thread's log after attaching it to the session of `state`, or null if that session is over or does not admit this thread.
Log* attached_log(std::uint64_t state) noexcept;

// Returns this thread's log. Valid only after attached_log() has succeeded on the thread.
Log* own_log() noexcept;

}  // namespace mindtorch::record
