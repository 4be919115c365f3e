// The rare half of writing to a thread's log: the first event, a full segment, a full chunk of side data.
#include "mindtorch/record/thread_log.h"

#include "mindtorch/record/foreign_lock.h"
#include "mindtorch/record/hooks.h"
#include "mindtorch/record/segments.h"
#include "mindtorch/record/session_core.h"
#include "mindtorch/record/thread_attach.h"

namespace mindtorch::record {
namespace {

// A segment ends early when its side data alone has used up the budget: it can be spilled or dropped only after it has ended. The slots
// that are in use stay where they are, and the next event finds no room.
void end_early_if_greedy(const SessionCore& session, ThreadLog& hot, const Segment& segment) noexcept {
  if (session.budget.policy == Budget::Policy::kGrow || segment.side.size() < kManySideChunks || !session.over_budget()) return;
  hot.limit = hot.next.load(std::memory_order_relaxed);
}

}  // namespace

// The quick path in open_slot() failed one of its two comparisons: the log is not attached for this state, or its segment is full. Once
// both are put right, the quick path is taken again, so that there is one function that fills a slot.
Slot* open_slow(std::uint64_t state, NameId name, EventKind kind, std::uint8_t flags, Device device, std::uint64_t link) noexcept {
  Log* log = attached_log(state);
  if (log == nullptr) return nullptr;
  if (log->hot.next.load(std::memory_order_relaxed) == log->hot.limit && !new_segment(*log, log->cold.refused)) return nullptr;
  return open_slot(state, name, kind, flags, device, link);
}

std::int64_t* reserve_side_slow(ThreadLog* hot, std::uint32_t words) noexcept {
  Log& log = *reinterpret_cast<Log*>(hot);  // `hot` is the first member of a Log
  LogStorage& cold = log.cold;
  const auto refuse = [&]() -> std::int64_t* {
    cold.side_refused.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  };
  if (words > kMaxSideWords) return refuse();
  // A memory report may come before the first event of a thread, but side data needs a segment to belong to.
  if (hot->segment_begin == nullptr && !new_segment(log, cold.side_refused)) return nullptr;
  const ForeignLockRegion may_wait;
  std::lock_guard lock(cold.mutex);
  if (cold.session == nullptr) return nullptr;  // stopped a moment ago
  try {
    if (cold.session->budget.policy == Budget::Policy::kKeepLast) drop_oldest(*cold.session, cold);
    Segment& segment = cold.segments.back();
    segment.side.reserve(segment.side.size() + 1);  // may throw, so it comes before the block is taken
    // The chunk in use stays in use until its successor is there: a refusal changes nothing, and a shorter entry may still fit.
    auto* block = static_cast<std::int64_t*>(cold.session->take_block(cold.spare));
    if (block == nullptr) return refuse();
    note_fill(log);  // of the chunk that is left: its fill level is known only from side_next, which is about to move
    segment.side.push_back({block});
    hot->side_limit = block + kWordsPerSideChunk;
    hot->side_next.store(block, std::memory_order_release);
    end_early_if_greedy(*cold.session, *hot, segment);
    return block;
  } catch (...) {
    return refuse();
  }
}

}  // namespace mindtorch::record
