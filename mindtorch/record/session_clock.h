// The clock that hooks read when it is not the hardware counter. Internal to record.
#pragma once

#include "mindtorch/record/clock.h"

namespace mindtorch::record {

// Sets the clock. It must outlive the last hook of the session, because it stays set after stop, until the next session sets its own.
void set_session_clock(Clock* clock) noexcept;

}  // namespace mindtorch::record
