// Ids of events, which go on counting over all sessions of a process, as torch's do. They are given to a recording when it has been read.
#pragma once

#include "mindtorch/trace/recording.h"

namespace mindtorch::record {

// Gives the events and memory reports of `recording` ids that nothing else of this process has. Any thread may call it.
void assign_event_ids(trace::Recording& recording) noexcept;

}  // namespace mindtorch::record
