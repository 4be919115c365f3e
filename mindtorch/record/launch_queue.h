// Queues of launches: a framework may hand work over to a thread that launches it later. These functions carry the op along, so that a
// kernel belongs to the op that asked for it and not to the thread that launched it.
#pragma once

#include <cstdint>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/trace/event.h"

namespace mindtorch::record {

// The place of one piece of work in the recording; 0 if it is not recorded.
using LaunchTicket = std::uint64_t;

// Called inside of the op, on its thread, when work is put into the queue: records a call of that name. Returns 0 while nothing is
// recorded.
MINDTORCH_EXPORT LaunchTicket enqueue_launch(trace::NameId name) noexcept;

// On the thread that launches: whatever this thread launches during the lifetime of this object belongs to the op of the ticket.
class MINDTORCH_EXPORT QueuedLaunch {
 public:
  explicit QueuedLaunch(LaunchTicket ticket) noexcept;
  ~QueuedLaunch();
  QueuedLaunch(const QueuedLaunch&) = delete;
  QueuedLaunch& operator=(const QueuedLaunch&) = delete;

 private:
  LaunchTicket ticket_;
  std::uint64_t begin_ = 0;
};

// For sources: a lifetime of a QueuedLaunch, in ticks of the session's clock.
struct QueuedSpan {
  std::uint32_t thread_id = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  LaunchTicket ticket = 0;
};
// All spans that have ended since the last call.
std::vector<QueuedSpan> take_queued_spans();

}  // namespace mindtorch::record
