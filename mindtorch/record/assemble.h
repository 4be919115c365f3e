// Assembles one Recording from sealed logs and device batches. Internal to record.
#pragma once

#include <string>
#include <vector>

#include "mindtorch/record/log_storage.h"
#include "mindtorch/record/segment_reader.h"
#include "mindtorch/record/session_core.h"
#include "mindtorch/record/session_sources.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::record {

class StackProvider;

// The session's own clock on the timeline: zero is the first sample.
TickMapping map_session_clock(const std::vector<ClockSample>& samples, Clock& clock);

struct Ingredients {
  const SealedLogs& logs;
  const std::vector<SourceBatch>& batches;
  const SessionCore& core;
  std::uint64_t window_start;  // SessionCore::window_start(), which may move while a snapshot is read
  std::uint64_t stop_ticks;    // or of the snapshot
  StackProvider* stacks;
};

// Returns `about`, which has no events yet, with everything that was recorded.
trace::Recording assemble(const Ingredients& from, trace::Recording about);

// Returns the parts of a Recording other than events, for a session that spilled its events.
void add_clock_and_steps(const Ingredients& from, TickMapping& mapping, trace::Recording& out);
void add_log_losses(const SealedLog& log, trace::Recording& out);
trace::Track track_of(const ThreadIdentity& thread);

}  // namespace mindtorch::record
