// The cold part of a thread's log: how far its segments are filled.
#include "mindtorch/record/log_storage.h"

#include <algorithm>

namespace mindtorch::record {

bool has_open_slot(const Segment& segment) noexcept { return std::any_of(segment.slots, segment.slots + segment.used, is_open); }

void note_fill(Log& log) noexcept {
  LogStorage& cold = log.cold;
  // A log that has left its last segment, or never had one, has no cursor to compare with.
  if (cold.segments.empty() || log.hot.segment_begin != cold.segments.back().slots) return;
  Segment& current = cold.segments.back();
  // Side entries first: the slot that an entry belongs to was published before the entry, so it is among the slots that are seen.
  if (!current.side.empty())
    current.side.back().used = static_cast<std::uint32_t>(log.hot.side_next.load(std::memory_order_acquire) - current.side.back().words);
  current.used = static_cast<std::uint32_t>(log.hot.next.load(std::memory_order_acquire) - current.slots);
  current.loose_entries = cold.loose_entries.load(std::memory_order_relaxed);
}

void append_closed(ThreadLog& hot, const Slot& event) noexcept {
  Slot* const slot = hot.next.load(std::memory_order_relaxed);
  *slot = event;
  hot.next.store(slot + 1, std::memory_order_release);
}

void leave_segment(ThreadLog& hot) noexcept {
  hot.next.store(nullptr, std::memory_order_relaxed);
  hot.limit = hot.segment_begin = nullptr;
  hot.side_next.store(nullptr, std::memory_order_relaxed);
  hot.side_limit = nullptr;
}

}  // namespace mindtorch::record
