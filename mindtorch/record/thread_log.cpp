// The rare half of a thread's log: joining a session, new segments under the byte budget, the end of a thread.
#include "mindtorch/record/thread_log.h"

#include <algorithm>

#include "mindtorch/record/foreign_lock.h"
#include "mindtorch/record/hooks.h"
#include "mindtorch/record/registry.h"
#include "mindtorch/record/session_core.h"
#include "mindtorch/record/spill.h"
#include "mindtorch/record/thread_attach.h"

namespace mindtorch::record {
namespace {

constinit ThreadLog unattached;  // its state equals no state word, so every hook goes the slow way
thread_local bool thread_is_exiting = false;

// Tells the registry when its thread ends. Constructed on the thread's first event.
struct ExitGuard {
  ExitGuard() {}  // not trivial: touching it registers the destructor
  ~ExitGuard() {
    if (thread_log == &unattached) return;
    thread_is_exiting = true;
    Log* log = own_log();
    thread_log = &unattached;
    Registry::instance().thread_exits(log);
  }
};

void seal_side(ThreadLog& hot, Segment& segment) noexcept {
  if (!segment.side.empty())
    segment.side.back().used = static_cast<std::uint32_t>(hot.side_next.load(std::memory_order_relaxed) - segment.side.back().words);
  hot.side_next.store(nullptr, std::memory_order_relaxed);
  hot.side_limit = nullptr;
}

void release_segment(SessionCore& session, const Segment& segment) noexcept {
  session.release_block(segment.slots);
  for (const SideChunk& chunk : segment.side) session.release_block(chunk.words);
}

// keep_last: is the oldest segment no longer wanted?
bool oldest_is_droppable(const SessionCore& session, const LogStorage& cold) noexcept {
  if (cold.segments.size() < 2) return false;
  if (session.over_budget()) return true;
  const Segment& oldest = cold.segments.front();
  return session.budget.keep_steps > 0 && oldest.slots[oldest.used - 1].start < session.window_start();
}

// keep_last: lets go of what is older than the ring. A segment with an open scope is pinned until the scope closes, because it closes into
// it.
void drop_oldest(SessionCore& session, LogStorage& cold) {
  std::erase_if(cold.pinned, [&](const Segment& segment) {
    if (has_open_slot(segment)) return false;
    release_segment(session, segment);
    return true;
  });
  while (oldest_is_droppable(session, cold)) {
    Segment oldest = std::move(cold.segments.front());
    cold.segments.pop_front();
    cold.overwritten += oldest.used;
    if (has_open_slot(oldest))
      cold.pinned.push_back(std::move(oldest));
    else
      release_segment(session, oldest);
  }
}

void* next_block(SessionCore& session, LogStorage& cold) noexcept {
  if (!cold.spare.empty()) {
    void* block = cold.spare.back();
    cold.spare.pop_back();
    session.adopt_bytes(kBlockBytes);
    return block;
  }
  return session.take_block();
}

// The current segment is full (or there is none): what the policy does with it.
void retire_current(SessionCore& session, Log& log) {
  LogStorage& cold = log.cold;
  if (cold.segments.empty()) return;
  Segment& current = cold.segments.back();
  current.used = kSlotsPerSegment;
  seal_side(log.hot, current);
  switch (session.budget.policy) {
    case Budget::Policy::kGrow: break;
    case Budget::Policy::kKeepLast: drop_oldest(session, cold); break;
    case Budget::Policy::kSpill:
      session.spill->submit(cold.thread, std::move(current));
      cold.segments.pop_back();
      break;
  }
}

void begin_segment(Log& log, void* block) {
  Segment segment;
  segment.slots = static_cast<Slot*>(block);
  segment.first_ordinal = log.cold.next_ordinal;
  log.cold.next_ordinal += kSlotsPerSegment;
  log.cold.segments.push_back(std::move(segment));
  log.hot.segment_begin = static_cast<Slot*>(block);
  log.hot.limit = log.hot.segment_begin + kSlotsPerSegment;
  log.hot.next.store(log.hot.segment_begin, std::memory_order_release);
}

// The wait for the disk is part of what the user sees: it stands in the recording.
void record_wait(Log& log, std::uint64_t from_ticks) noexcept {
  const std::uint64_t now = ticks_for(log.hot.state);
  static const NameId name = intern("profiler: waiting for the spill file");
  Slot* slot = log.hot.segment_begin;
  *slot = Slot{from_ticks, now, name, EventKind::kOverhead, 0, Device{}, 0};
  log.hot.next.store(slot + 1, std::memory_order_release);
}

}  // namespace

constinit thread_local ThreadLog* thread_log = &unattached;

bool has_open_slot(const Segment& segment) noexcept {
  return std::any_of(segment.slots, segment.slots + segment.used,
                     [](Slot& slot) { return std::atomic_ref<std::uint64_t>(slot.end).load(std::memory_order_acquire) == 0; });
}

Log* own_log() noexcept { return reinterpret_cast<Log*>(thread_log); }

Log* attached_log(std::uint64_t state) noexcept try {
  if (thread_is_exiting) {
    Registry::instance().refuse_at_thread_exit();
    return nullptr;
  }
  if (thread_log == &unattached) {
    static thread_local ExitGuard guard;
    static_cast<void>(guard);
    thread_log = &Registry::instance().create_log()->hot;
  }
  Log* log = own_log();
  if (generation_of(log->hot.state) == generation_of(state))
    log->hot.state = state;  // only what is wanted has changed
  else if (!Registry::instance().attach(*log, state))
    return nullptr;  // that session is over
  if ((state & kOneThread) != 0 && log->cold.admitted_generation != generation_of(state)) return nullptr;
  return log;
} catch (...) {
  return nullptr;  // out of memory
}

bool new_segment(Log& log) noexcept {
  LogStorage& cold = log.cold;
  const auto refuse = [&] {
    cold.refusing_generation = generation_of(log.hot.state);
    cold.refused.fetch_add(1, std::memory_order_relaxed);
    return false;
  };
  if (cold.refusing_generation == generation_of(log.hot.state)) return refuse();
  const ForeignLockRegion may_wait;
  std::lock_guard lock(cold.mutex);
  if (cold.session == nullptr) return false;  // stopped a moment ago
  SessionCore& session = *cold.session;
  try {
    retire_current(session, log);
    const std::uint64_t before = ticks_for(log.hot.state);
    const bool must_wait = session.must_wait();
    void* block = next_block(session, cold);
    if (block == nullptr) return refuse();
    begin_segment(log, block);
    if (must_wait) record_wait(log, before);
    session.sample_clock_sometimes();
    return true;
  } catch (...) {
    return refuse();
  }
}

Slot* open_slow(std::uint64_t state, NameId name, EventKind kind, std::uint8_t flags, Device device, std::uint64_t link) noexcept {
  Log* log = attached_log(state);
  if (log == nullptr) return nullptr;
  if (log->hot.next.load(std::memory_order_relaxed) == log->hot.limit && !new_segment(*log)) return nullptr;
  return open_slot(state, name, kind, flags, device, link);
}

std::int64_t* reserve_side_slow(ThreadLog* hot, std::uint32_t words) noexcept {
  Log& log = *reinterpret_cast<Log*>(hot);
  const auto refuse = [&]() -> std::int64_t* {
    log.cold.side_refused.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  };
  if (words > kMaxSideWords) return refuse();
  if (hot->segment_begin == nullptr && !new_segment(log)) return refuse();
  const ForeignLockRegion may_wait;
  std::lock_guard lock(log.cold.mutex);
  if (log.cold.session == nullptr) return nullptr;  // stopped a moment ago
  try {
    Segment& segment = log.cold.segments.back();
    seal_side(*hot, segment);
    segment.side.reserve(segment.side.size() + 1);
    auto* block = static_cast<std::int64_t*>(next_block(*log.cold.session, log.cold));
    if (block == nullptr) return refuse();
    segment.side.push_back({block, 0});
    hot->side_limit = block + kWordsPerSideChunk;
    hot->side_next.store(block, std::memory_order_release);
    return block;
  } catch (...) {
    return refuse();
  }
}

}  // namespace mindtorch::record
