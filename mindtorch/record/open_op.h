// Which op this thread is in.
#pragma once

#include "mindtorch/trace/event.h"

namespace mindtorch::record {

// The name of the innermost op, autograd node or scope that is open on this thread; 0 if nothing records or nothing is open. Looks at the
// thread's latest events, so that it is quick where an op has few children. Any thread.
trace::NameId innermost_open_name() noexcept;

}  // namespace mindtorch::record
