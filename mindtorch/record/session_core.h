// What a running session and the logs share: the budget, the steps, the spill. Internal to record.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "mindtorch/record/log_storage.h"
#include "mindtorch/record/session.h"

namespace mindtorch::record {

class SpillWriter;

struct TickStep {
  std::uint64_t ticks = 0;
  std::int64_t step = 0;
};

// Lives from prepare() to the end of stop(). Logs reach it through LogStorage::session under the log's lock.
class SessionCore {
 public:
  explicit SessionCore(const SessionOptions& options);
  ~SessionCore();

  // A block for a log under the byte budget: null if the policy refuses. Waits for the spill thread if must_wait().
  void* take_block() noexcept;
  void release_block(void* block) noexcept;
  // Counts a block that a log had kept for itself.
  void adopt_bytes(std::int64_t bytes) noexcept { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  // True if one more block would exceed the budget.
  bool over_budget() const noexcept { return bytes() + static_cast<std::int64_t>(kBlockBytes) > budget.bytes; }
  bool must_wait() const noexcept { return budget.policy == Budget::Policy::kSpill && over_budget(); }
  std::int64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

  void mark_step(std::uint64_t ticks, std::int64_t step);
  std::vector<TickStep> steps() const;
  // Events that started earlier are no longer asked for (keep_last by steps); 0 = everything is.
  std::uint64_t window_start() const noexcept { return window_start_.load(std::memory_order_relaxed); }

  // Clock samples: at start, about every second while segments fill, at stop.
  void sample_clock();
  void sample_clock_sometimes();
  std::vector<ClockSample> clock_samples() const;

  const Budget budget;
  Clock& clock;
  const std::uint32_t generation;
  std::unique_ptr<SpillWriter> spill;  // policy spill only
  std::atomic<std::uint64_t> refused_at_thread_exit{0};

 private:
  mutable std::mutex mutex_;
  std::vector<TickStep> steps_;
  std::vector<ClockSample> samples_;
  std::atomic<std::int64_t> bytes_{0};
  std::atomic<std::uint64_t> window_start_{0};
  std::atomic<std::uint64_t> next_sample_ticks_{0};
  std::uint64_t ticks_per_second_ = 0;
};

}  // namespace mindtorch::record
