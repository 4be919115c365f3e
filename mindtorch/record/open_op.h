// Finds the op that the calling thread is executing.
#pragma once

#include "mindtorch/trace/event.h"

namespace mindtorch::record {

// Returns the name of the innermost op, autograd node or scope that is open on this thread, or 0 if nothing is being recorded or nothing is
// open. It searches the thread's latest events, so it is quick if an op has few children. May be called on any thread.
trace::NameId innermost_open_name() noexcept;

}  // namespace mindtorch::record
