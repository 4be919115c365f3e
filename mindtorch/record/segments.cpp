// New segments under the byte budget.
#include "mindtorch/record/segments.h"

#include <algorithm>

#include "mindtorch/record/foreign_lock.h"
#include "mindtorch/record/hooks.h"
#include "mindtorch/record/segment_reader.h"
#include "mindtorch/record/session_core.h"
#include "mindtorch/record/side_entries.h"

namespace mindtorch::record {
namespace {

// Gives the blocks of a segment back. Its events and its memory reports count as overwritten.
template <class Counts>  // of a log, or of threads that have ended
void drop_segment(SessionCore& session, Counts& counts, const Segment& segment) noexcept {
  counts.overwritten += segment.used;
  counts.side_overwritten += segment.loose_entries;
  session.release(segment);
}

// Drops segments whose open scopes have all ended, as soon as that is so.
void drop_pinned(SessionCore& session, LogStorage& cold) noexcept {
  std::erase_if(cold.pinned, [&](const Segment& segment) {
    if (has_open_slot(segment)) return false;
    drop_segment(session, cold, segment);
    return true;
  });
}

// The time of the latest entry that belongs to no event; 0 if there is none.
std::uint64_t latest_loose_entry(const Segment& segment) noexcept {
  std::uint64_t latest = 0;
  if (segment.loose_entries == 0) return latest;
  for_each_side_entry(segment, [&](const SideEntry& entry) {
    if (entry.kind == SideKind::kMemory || entry.kind == SideKind::kMemoryTag) latest = std::max(latest, ticks_of_loose_entry(entry.words));
  });
  return latest;
}

bool is_older_than(const Segment& segment, std::uint64_t ticks) noexcept {
  if (segment.used > 0 && segment.slots[segment.used - 1].start >= ticks) return false;
  return latest_loose_entry(segment) < ticks;
}

// keep_last: returns true if the oldest segment is no longer wanted. The segment that is being written is always wanted.
bool oldest_is_droppable(const SessionCore& session, const LogStorage& cold) noexcept {
  if (cold.segments.size() < 2) return false;
  if (session.over_budget()) return true;
  return session.window_start() != 0 && is_older_than(cold.segments.front(), session.window_start());
}

// Ends the segment that is being written, if there is one: only the ends of its open scopes are written to it from now on.
void end_segment(Log& log) noexcept {
  if (log.hot.segment_begin == nullptr) return;
  note_fill(log);
  log.cold.next_ordinal = log.cold.segments.back().first_ordinal + log.cold.segments.back().used;
  log.cold.loose_entries.store(0, std::memory_order_relaxed);
  leave_segment(log.hot);
}

// Prepares for a new segment as the policy demands. Under `grow` the current segment stays in use: if the next one is refused, the current
// one still has room for side data.
void make_way(SessionCore& session, Log& log) {
  LogStorage& cold = log.cold;
  switch (session.budget.policy) {
    case Budget::Policy::kGrow: break;
    case Budget::Policy::kKeepLast: drop_oldest(session, cold); break;
    case Budget::Policy::kSpill:
      end_segment(log);  // first, because the room that the new segment waits for may be that of this one
      if (cold.segments.empty()) break;
      session.spill->submit(cold.thread, std::move(cold.segments.back()));
      cold.segments.pop_back();
      break;
  }
}

void begin_segment(SessionCore& session, Log& log, void* block) {
  Segment segment;
  segment.slots = static_cast<Slot*>(block);
  segment.first_ordinal = log.cold.next_ordinal;
  try {
    log.cold.segments.push_back(std::move(segment));
  } catch (...) {
    session.release_block(block);
    throw;
  }
  log.hot.segment_begin = static_cast<Slot*>(block);
  log.hot.limit = log.hot.segment_begin + kSlotsPerSegment;
  log.hot.next.store(log.hot.segment_begin, std::memory_order_release);
}

// The wait for the disk is visible to the user, so it is recorded.
void record_wait(Log& log, std::uint64_t from_ticks) noexcept {
  const std::uint64_t now = ticks_for(log.hot.state);
  static const NameId name = intern("profiler: waiting for the spill file");
  append_closed(log.hot, {from_ticks, now, name, EventKind::kOverhead, 0, Device{}, 0});
}

}  // namespace

// A segment with an open scope is pinned, because the end of the scope will be stored into it. Its events are counted as lost when it is
// released, not when it is pinned: a segment that is still pinned at stop is read.
void drop_oldest(SessionCore& session, LogStorage& cold) {
  drop_pinned(session, cold);
  while (oldest_is_droppable(session, cold)) {
    if (has_open_slot(cold.segments.front()))
      cold.pinned.push_back(std::move(cold.segments.front()));
    else
      drop_segment(session, cold, cold.segments.front());
    cold.segments.pop_front();
  }
}

namespace {

bool is_older_than(const SealedLog& log, std::uint64_t ticks) noexcept {
  return ticks != 0 && std::ranges::all_of(log.segments, [&](const Segment& segment) { return is_older_than(segment, ticks); });
}

// Drops the segments of a thread that has ended, except those with open scopes: another thread may close them.
void drop_closed_segments(SessionCore& session, SealedLog& log) noexcept {
  std::erase_if(log.segments, [&](const Segment& segment) {
    if (has_open_slot(segment)) return false;
    drop_segment(session, session.ended.losses, segment);
    return true;
  });
}

}  // namespace

void drop_ended(SessionCore& session) {
  EndedThreads& ended = session.ended;
  std::erase_if(ended.open, [&](SealedLog& log) {
    drop_closed_segments(session, log);
    return log.segments.empty();
  });
  while (!ended.logs.empty() && (session.over_budget() || is_older_than(ended.logs.front(), session.window_start()))) {
    ended.open.reserve(ended.open.size() + 1);
    SealedLog log = std::move(ended.logs.front());
    ended.logs.pop_front();
    ended.losses += log.losses;
    drop_closed_segments(session, log);
    if (!log.segments.empty()) ended.open.push_back({log.thread, std::move(log.segments)});
  }
}

namespace {

// There is no memory to keep a segment of a thread that has ended. If a scope in it is open, its memory stays where it is for good, because
// another thread may close the scope.
void lose_segment(SessionCore& session, const Segment& segment) noexcept {
  session.ended.losses.refused += segment.used;
  session.ended.losses.side_refused += segment.loose_entries;
  if (!has_open_slot(segment)) session.release(segment);
}

void submit_all(SessionCore& session, SealedLog& log) noexcept {
  for (Segment& segment : log.segments) {
    try {
      session.spill->submit(log.thread, std::move(segment));
    } catch (const std::bad_alloc&) {
      lose_segment(session, segment);
    }
  }
  log.segments.clear();
  session.spill->thread_ended(log.thread);
}

void keep_compact(SessionCore& session, SealedLog& log) noexcept {
  try {
    for (Segment& segment : log.segments)
      if (!has_open_slot(segment)) session.make_compact(segment);
    session.ended.logs.push_back(std::move(log));
    log = {};
  } catch (const std::bad_alloc&) {
    for (const Segment& segment : log.segments) lose_segment(session, segment);
  }
}

}  // namespace

void lose(SessionCore& session, const SealedLog& log) noexcept {
  for (const Segment& segment : log.segments) lose_segment(session, segment);
  session.ended.losses += log.losses;
}

void lose(SessionCore& session, Log& log) noexcept {
  LogStorage& cold = log.cold;
  cold.session = nullptr;
  note_fill(log);
  for (const Segment& segment : cold.pinned) lose_segment(session, segment);
  for (const Segment& segment : cold.segments) {
    const bool is_current = !cold.dead && &segment == &cold.segments.back();
    if (!is_current) {
      lose_segment(session, segment);
      continue;
    }
    session.ended.losses.refused += segment.used;
    session.ended.losses.side_refused += segment.loose_entries;
  }
  cold.pinned.clear();
  cold.segments.clear();
  session.ended.losses += cold.losses();
}

void retire(SessionCore& session, SealedLog log) noexcept {
  std::erase_if(log.segments, [&](const Segment& segment) {
    const bool is_empty = segment.used == 0 && segment.loose_entries == 0;
    if (is_empty) session.release(segment);
    return is_empty;
  });
  if (session.spill != nullptr)
    submit_all(session, log);
  else if (!log.segments.empty())
    keep_compact(session, log);
  session.ended.losses += log.losses;
}

bool new_segment(Log& log, std::atomic<std::uint64_t>& refusals) noexcept {
  LogStorage& cold = log.cold;
  const auto refuse = [&] {
    cold.refusing_generation = generation_of(log.hot.state);
    refusals.fetch_add(1, std::memory_order_relaxed);
    return false;
  };
  if (cold.refusing_generation == generation_of(log.hot.state)) return refuse();
  const ForeignLockRegion may_wait;
  std::lock_guard lock(cold.mutex);
  if (cold.session == nullptr) return false;  // stopped a moment ago
  SessionCore& session = *cold.session;
  try {
    make_way(session, log);
    const std::uint64_t before = ticks_for(log.hot.state);
    const bool must_wait = session.must_wait();
    void* block = session.take_block(cold.spare);
    if (block == nullptr) return refuse();
    end_segment(log);
    begin_segment(session, log, block);
    if (must_wait) record_wait(log, before);
    session.sample_clock_sometimes();
    return true;
  } catch (...) {
    return refuse();
  }
}

bool make_room_for_loose_entry(Log& log) noexcept {
  LogStorage& cold = log.cold;
  {
    const ForeignLockRegion may_wait;
    std::lock_guard lock(cold.mutex);
    if (cold.session == nullptr) return false;  // stopped a moment ago
    if (cold.session->budget.policy == Budget::Policy::kGrow || log.hot.segment_begin == nullptr) return true;
    if (cold.segments.back().side.size() < kManySideChunks) return true;
    const bool has_events = log.hot.next.load(std::memory_order_relaxed) != log.hot.segment_begin;
    if (has_events && !cold.session->over_budget()) return true;
  }
  return new_segment(log, cold.side_refused);
}

}  // namespace mindtorch::record
