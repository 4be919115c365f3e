// The cold part of a thread's log: its segments, its identity, and what it had to refuse. Internal to record.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mindtorch/record/block_pool.h"
#include "mindtorch/record/thread_log.h"

namespace mindtorch::record {

class SessionCore;

inline constexpr std::uint32_t kSlotsPerSegment = kBlockBytes / sizeof(Slot);
inline constexpr std::uint32_t kWordsPerSideChunk = kBlockBytes / sizeof(std::int64_t);
// The longest payload of a side entry; longer ones are refused and counted.
inline constexpr std::uint32_t kMaxSideWords = kWordsPerSideChunk - 1;

struct SideChunk {
  std::int64_t* words = nullptr;
  std::uint32_t used = 0;
  bool stays_with_thread = false;
};

// A block of slots and the side chunks that refer to them: the unit that is recycled, overwritten or spilled.
struct Segment {
  Slot* slots = nullptr;
  std::uint32_t used = 0;           // valid once note_fill() has run
  std::uint64_t first_ordinal = 0;  // position of slots[0] among all events of the thread in this session
  std::vector<SideChunk> side;
  std::uint64_t loose_entries = 0;  // side entries that belong to no event, and are lost on their own; valid as `used` is
  bool stays_with_thread = false;   // after stop, the thread may still write here: see Registry::close
  // The memory of slots and side data if they are not in blocks: SessionCore::make_compact(). Copies of the segment share it.
  std::shared_ptr<std::byte[]> compact;
  std::int64_t compact_bytes = 0;

  bool empty() const { return used == 0 && side.empty(); }
};

// True if a scope in the segment is still open: its thread will write the end, so the memory must stay.
bool has_open_slot(const Segment& segment) noexcept;

struct ThreadIdentity {
  std::uint32_t number = 0;
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string name;
};

// What one thread did not record, or several threads together.
struct LogLosses {
  std::uint64_t refused = 0;
  std::uint64_t side_refused = 0;
  std::uint64_t overwritten = 0;
  std::uint64_t side_overwritten = 0;

  LogLosses& operator+=(const LogLosses& other) noexcept {
    refused += other.refused;
    side_refused += other.side_refused;
    overwritten += other.overwritten;
    side_overwritten += other.side_overwritten;
    return *this;
  }
};

struct LogStorage {
  // Guards everything below against stop() and fork(); the owner takes it only out of line.
  std::mutex mutex;
  SessionCore* session = nullptr;  // null when the log takes part in no session
  std::deque<Segment> segments;    // of this session, oldest first; the last one is being written if ThreadLog::segment_begin is its
  std::vector<Segment> pinned;     // dropped from the ring but for an open scope
  std::vector<void*> spare;        // blocks of earlier sessions that a late writer may still touch: reused by this thread only
  std::uint64_t next_ordinal = 0;

  ThreadIdentity thread;
  bool dead = false;

  // Counts of this session; the first three are written without the lock.
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> side_refused{0};
  std::atomic<std::uint64_t> loose_entries{0};  // of the segment that is being written
  std::uint64_t overwritten = 0;
  std::uint64_t side_overwritten = 0;
  LogLosses losses() const noexcept { return {refused, side_refused, overwritten, side_overwritten}; }

  // Written by the owner alone, read by it without the lock.
  std::uint32_t admitted_generation = 0;  // kOneThread: the session this thread may record in
  std::uint32_t refusing_generation = 0;  // the session whose budget is used up
};

// A log: hot and cold part together, owned by the registry.
struct Log {
  ThreadLog hot;
  LogStorage cold;
};

// Updates the fill level of the current segment, if the log has one. It may be called repeatedly, on any thread, under the lock of the log.
void note_fill(Log& log) noexcept;

// Appends an event that is over already. There must be room for it. On the log's own thread.
void append_closed(ThreadLog& hot, const Slot& event) noexcept;

// Detaches the log from its segment, so that the next event or side entry takes the slow path. Called on the log's own thread.
void leave_segment(ThreadLog& hot) noexcept;

// The data that stop() takes from a log, or that snapshot() reads while the log goes on.
struct SealedLog {
  ThreadIdentity thread;
  std::vector<Segment> segments;  // oldest first, pinned ones included
  LogLosses losses;
};

// All logs of a session, in the order of their threads.
struct SealedLogs {
  std::vector<SealedLog> logs;
  LogLosses of_ended_threads;  // of which nothing else is kept
};

}  // namespace mindtorch::record
