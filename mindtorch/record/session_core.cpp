// The state that a running session and the logs share.
#include "mindtorch/record/session_core.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "mindtorch/base/error.h"
#include "mindtorch/record/foreign_lock.h"

namespace mindtorch::record {
namespace {

constexpr std::size_t kMostSamples = 8192;
constexpr std::size_t kSureSamples = 16;  // for which there is memory from the start: at least those of start and stop
constexpr std::int64_t kSmallestBudget = 16 * static_cast<std::int64_t>(kBlockBytes);

Budget checked(Budget budget) {
  if (budget.bytes < kSmallestBudget)
    throw_error<InvalidArgument>("record.prepare", "the byte budget must be at least {}, got {}", kSmallestBudget, budget.bytes);
  if (budget.keep_steps < 0) throw_error<InvalidArgument>("record.prepare", "keep_steps must not be negative, got {}", budget.keep_steps);
  if (budget.keep_ns < 0) throw_error<InvalidArgument>("record.prepare", "keep_ns must not be negative, got {}", budget.keep_ns);
  if (budget.policy == Budget::Policy::kSpill && budget.spill_path.empty())
    throw_error<InvalidArgument>("record.prepare", "the policy spill needs a spill_path");
  return budget;
}

}  // namespace

SessionCore::SessionCore(const SessionOptions& options, std::uint32_t generation_number)
    : budget(checked(options.budget)), clock(options.clock ? *options.clock : system_clock()), generation(generation_number) {
  samples_.reserve(kSureSamples);
  ticks_per_second_ = static_cast<std::uint64_t>(1e9 / clock.ns_per_tick());
  keep_ticks_ = static_cast<std::uint64_t>(static_cast<double>(budget.keep_ns) / clock.ns_per_tick());
}

std::uint64_t SessionCore::ticks_before(std::uint64_t now, std::chrono::nanoseconds time) const noexcept {
  const double ticks = static_cast<double>(time.count()) / clock.ns_per_tick();
  return ticks < static_cast<double>(now) ? now - static_cast<std::uint64_t>(ticks) : 0;
}

void* SessionCore::take_block(std::vector<void*>& spare) noexcept {
  if (over_budget()) {
    if (budget.policy == Budget::Policy::kGrow) return nullptr;
    if (budget.policy == Budget::Policy::kSpill) {
      ForeignLockRegion::give_up();
      spill->wait_for_room();
    }
  }
  void* block = nullptr;
  if (spare.empty()) {
    block = BlockPool::instance().take();
  } else {
    block = spare.back();
    spare.pop_back();
  }
  if (block != nullptr) bytes_.fetch_add(kBlockBytes, std::memory_order_relaxed);
  return block;
}

void SessionCore::release_block(void* block) noexcept {
  if (!held.keep_for_reader(block)) BlockPool::instance().give_back(block);
  bytes_.fetch_sub(kBlockBytes, std::memory_order_relaxed);
}

void SessionCore::release(const Segment& segment) noexcept {
  if (segment.compact != nullptr) {
    bytes_.fetch_sub(segment.compact_bytes, std::memory_order_relaxed);
    return;
  }
  if (!segment.stays_with_thread) release_block(segment.slots);
  for (const SideChunk& chunk : segment.side)
    if (!chunk.stays_with_thread) release_block(chunk.words);
}

void SessionCore::make_compact(Segment& segment) {
  std::size_t bytes = segment.used * sizeof(Slot);
  for (const SideChunk& chunk : segment.side) bytes += chunk.used * sizeof(std::int64_t);
  if (bytes > (1 + segment.side.size()) * kBlockBytes / 2) return;
  Segment compact = segment;
  compact.compact = std::shared_ptr<std::byte[]>(new std::byte[bytes]);
  compact.compact_bytes = static_cast<std::int64_t>(bytes);
  std::byte* at = compact.compact.get();
  const auto move_here = [&](const void* from, std::size_t size) {
    std::memcpy(at, from, size);
    return std::exchange(at, at + size);
  };
  compact.slots = reinterpret_cast<Slot*>(move_here(segment.slots, segment.used * sizeof(Slot)));
  for (SideChunk& chunk : compact.side)
    chunk.words = reinterpret_cast<std::int64_t*>(move_here(chunk.words, chunk.used * sizeof(std::int64_t)));
  bytes_.fetch_add(compact.compact_bytes, std::memory_order_relaxed);
  release(segment);
  segment = std::move(compact);
}

void SessionCore::mark_step(std::uint64_t ticks, std::int64_t step) {
  std::lock_guard lock(mutex_);
  if (!steps_.empty() && step <= steps_.back().step)
    throw_error<InvalidArgument>("record.mark_step", "steps must increase, got {} after {}", step, steps_.back().step);
  steps_.push_back({ticks, step});
  move_window();
}

void SessionCore::move_window() {
  std::size_t first = 0;
  if (budget.keep_steps > 0) {
    // The running step and `keep_steps` whole ones before it.
    const auto kept = static_cast<std::size_t>(budget.keep_steps) + 1;
    first = steps_.size() - std::min(steps_.size(), kept);
  } else if (keep_ticks_ > 0) {
    // The step that was running at that time is kept whole.
    const std::uint64_t now = steps_.back().ticks, oldest = now - std::min(now, keep_ticks_);
    const auto after = std::ranges::upper_bound(steps_, oldest, {}, &TickStep::ticks);
    first = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, after - steps_.begin() - 1));
  }
  if (first == 0) return;
  window_start_.store(steps_[first].ticks, std::memory_order_relaxed);
  if (2 * first >= steps_.size()) steps_.erase(steps_.begin(), steps_.begin() + static_cast<std::ptrdiff_t>(first));
}

std::vector<TickStep> SessionCore::steps(std::size_t first) const {
  std::lock_guard lock(mutex_);
  return {steps_.begin() + static_cast<std::ptrdiff_t>(std::min(first, steps_.size())), steps_.end()};
}

void SessionCore::sample_clock() noexcept {
  const ClockSample sample = clock.sample();
  next_sample_ticks_.store(sample.ticks + ticks_per_second_, std::memory_order_relaxed);
  std::lock_guard lock(mutex_);
  try {
    samples_.push_back(sample);
    if (budget.policy == Budget::Policy::kKeepLast && samples_.size() >= kMostSamples) thin_samples();
  } catch (const std::bad_alloc&) {
    samples_.back() = sample;  // the newest tells most
  }
}

// A ring may be filled for weeks. Events of the last hour are mapped by samples of every second, as always; older samples only tell how far
// the session's start is away.
void SessionCore::thin_samples() {
  std::vector<ClockSample> kept;
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    if (i % 2 == 0 || i + kMostSamples / 2 >= samples_.size()) kept.push_back(samples_[i]);
  }
  samples_ = std::move(kept);
}

void SessionCore::sample_clock_sometimes() noexcept {
  std::uint64_t due = next_sample_ticks_.load(std::memory_order_relaxed);
  const std::uint64_t now = clock.ticks();
  // The thread that moves the due time takes the sample.
  if (now >= due && next_sample_ticks_.compare_exchange_strong(due, now + ticks_per_second_, std::memory_order_relaxed)) sample_clock();
}

std::vector<ClockSample> SessionCore::clock_samples() const {
  std::lock_guard lock(mutex_);
  return samples_;
}

}  // namespace mindtorch::record
