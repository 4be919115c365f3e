// HeldBlocks: blocks that a snapshot reads while recording goes on. Internal to record.
#pragma once

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace mindtorch::record {

// Thread safe. A block that a ring drops while it is held goes back to the pool when the snapshot has been read, and not before, so that
// nothing is written over what is being read.
class HeldBlocks {
 public:
  ~HeldBlocks() { let_go(); }

  // Call it under the lock under which the block is dropped: that of its log, or that of the registry if its thread has ended.
  void hold(void* block);
  // The block is no longer used. Returns false if nothing holds it; otherwise let_go() gives it back to the pool.
  bool keep_for_reader(void* block) noexcept;
  // Gives back what was dropped meanwhile. Blocks that are still in use are not held any more.
  void let_go() noexcept;

 private:
  std::atomic<bool> holds_any_{false};
  std::mutex mutex_;
  std::unordered_map<void*, bool> is_dropped_;
};

}  // namespace mindtorch::record
