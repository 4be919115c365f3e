// HeldBlocks: what is dropped while it is being read.
#include "mindtorch/record/held_blocks.h"

#include "mindtorch/record/block_pool.h"

namespace mindtorch::record {

void HeldBlocks::hold(void* block) {
  std::lock_guard lock(mutex_);
  is_dropped_.try_emplace(block, false);
  holds_any_.store(true, std::memory_order_relaxed);
}

bool HeldBlocks::keep_for_reader(void* block) noexcept {
  // A thread that drops a block has taken the lock of its log after hold() did, so it sees the flag. If the flag is down again, the reader
  // has read everything before: acquire, together with the release in let_go(), makes sure of it.
  if (!holds_any_.load(std::memory_order_acquire)) return false;
  std::lock_guard lock(mutex_);
  const auto found = is_dropped_.find(block);
  if (found == is_dropped_.end()) return false;
  found->second = true;
  return true;
}

void HeldBlocks::let_go() noexcept {
  std::lock_guard lock(mutex_);
  for (const auto& [block, is_dropped] : is_dropped_)
    if (is_dropped) BlockPool::instance().give_back(block);
  is_dropped_.clear();
  holds_any_.store(false, std::memory_order_release);
}

}  // namespace mindtorch::record
