// SessionCore: the state that a running session and the logs share: the budget, the steps, the spill. Internal to record.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "mindtorch/record/held_blocks.h"
#include "mindtorch/record/log_storage.h"
#include "mindtorch/record/session.h"

namespace mindtorch::record {

struct TickStep {
  std::uint64_t ticks = 0;
  std::int64_t step = 0;
};

// Takes full segments while recording goes on (policy spill).
class SegmentSink {
 public:
  virtual ~SegmentSink() = default;
  // The thread has ended and has submitted all of its segments. Under no lock but the registry's.
  virtual void thread_ended(const ThreadIdentity& thread) noexcept = 0;
  // Takes over the segment, or throws std::bad_alloc and leaves it as it is. Any thread, under its log's lock.
  virtual void submit(const ThreadIdentity& thread, Segment&& segment) = 0;
  // Blocks the caller until the session is within its budget, or until the sink holds nothing that could be freed. Any thread.
  virtual void wait_for_room() noexcept = 0;
};

// Threads that have ended during the session.
struct EndedThreads {
  // What they recorded, in the order in which they ended. Not under the policy spill: there, the sink has it.
  std::deque<SealedLog> logs;
  // keep_last: logs that the window has left, of which scopes are open that another thread may close.
  std::vector<SealedLog> open;
  // Losses of threads of which nothing else is kept.
  LogLosses losses;
};

// A SessionCore exists from prepare() to the end of stop(). Logs access it through LogStorage::session, under the lock of the log.
class SessionCore {
 public:
  SessionCore(const SessionOptions& options, std::uint32_t generation);

  // Returns a block within the byte budget, taken from `spare` if possible, or null if the policy refuses it or memory is exhausted. Waits
  // for the spill if must_wait().
  void* take_block(std::vector<void*>& spare) noexcept;
  void release_block(void* block) noexcept;
  // Gives back the memory of a segment, except blocks that stay with their thread.
  void release(const Segment& segment) noexcept;
  // Moves a segment whose thread has ended, and all of whose scopes are closed, to memory of its size if it fills few of its blocks.
  void make_compact(Segment& segment);
  // True if one more block would exceed the budget.
  bool over_budget() const noexcept { return bytes() + static_cast<std::int64_t>(kBlockBytes) > budget.bytes; }
  bool must_wait() const noexcept { return budget.policy == Budget::Policy::kSpill && over_budget(); }
  std::int64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

  void mark_step(std::uint64_t ticks, std::int64_t step);
  // Those from the n-th on.
  std::vector<TickStep> steps(std::size_t first = 0) const;
  // Events that started earlier are no longer needed (keep_last by steps or time); 0: all events are needed.
  std::uint64_t window_start() const noexcept { return window_start_.load(std::memory_order_relaxed); }

  // The tick that was `time` before `now`; 0 if no tick is as old.
  std::uint64_t ticks_before(std::uint64_t now, std::chrono::nanoseconds time) const noexcept;

  // Clock samples: at start, about every second while segments fill, at stop.
  void sample_clock() noexcept;
  void sample_clock_sometimes() noexcept;
  std::vector<ClockSample> clock_samples() const;

  const Budget budget;
  Clock& clock;
  const std::uint32_t generation;
  SegmentSink* spill = nullptr;  // policy spill only; set before the session starts
  HeldBlocks held;               // what a snapshot is reading; its bytes do not count once they are dropped
  std::atomic<std::uint64_t> refused_at_thread_exit{0};
  EndedThreads ended;  // guarded by the lock of the registry

 private:
  // keep_last: moves the start of the window to the oldest step that is kept. Call it with the lock held.
  void move_window();
  void thin_samples();

  mutable std::mutex mutex_;
  std::vector<TickStep> steps_;
  std::vector<ClockSample> samples_;
  std::atomic<std::int64_t> bytes_{0};
  std::atomic<std::uint64_t> window_start_{0};
  std::atomic<std::uint64_t> next_sample_ticks_{0};
  std::uint64_t ticks_per_second_ = 0;
  std::uint64_t keep_ticks_ = 0;  // Budget::keep_ns
};

}  // namespace mindtorch::record
