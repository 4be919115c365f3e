// One counter for the process.
#include "mindtorch/record/event_ids.h"

#include <atomic>

namespace mindtorch::record {

void assign_event_ids(trace::Recording& recording) noexcept {
  static std::atomic<std::uint64_t> next{1};
  recording.first_id = next.fetch_add(recording.events.size() + recording.memory.size(), std::memory_order_relaxed);
}

}  // namespace mindtorch::record
