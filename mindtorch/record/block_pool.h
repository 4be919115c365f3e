// The memory of the logs: 64 KiB blocks cut from 2 MiB arenas, for which the kernel uses huge pages if possible (one page fault per arena
// instead of one per 128 slots).
#pragma once

#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace mindtorch::record {

inline constexpr std::size_t kBlockBytes = std::size_t{64} << 10;

// Thread safe. Blocks are handed out last in, first out, so that recently used memory comes first.
class BlockPool {
 public:
  static BlockPool& instance();

  // Returns null if the system has no memory left.
  void* take() noexcept;
  void give_back(void* block) noexcept;
  // Makes sure that there are free blocks with mapped pages, so that the first event of a session does not cause page faults.
  void warm() noexcept;
  // Returns arenas without a block in use to the system until at most `keep_bytes` of free blocks remain.
  void trim(std::size_t keep_bytes) noexcept;

  std::size_t mapped_bytes();
  std::size_t free_bytes();

  // For fork().
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  bool map_arena() noexcept;

  std::mutex mutex_;
  std::vector<void*> free_;
  std::unordered_map<void*, unsigned> arenas_;  // arena -> how many of its blocks are free
};

}  // namespace mindtorch::record
