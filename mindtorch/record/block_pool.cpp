// The memory of the logs.
#include "mindtorch/record/block_pool.h"

#include <sys/mman.h>

#include <cstdint>

namespace mindtorch::record {
namespace {

constexpr std::size_t kArenaBytes = std::size_t{2} << 20;
constexpr unsigned kBlocksPerArena = kArenaBytes / kBlockBytes;

void* arena_of(void* block) { return reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(block) & ~(kArenaBytes - 1)); }

// An arena aligned to its own size, so that one huge page can back it.
void* map_aligned() {
  void* raw = ::mmap(nullptr, 2 * kArenaBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return nullptr;
  char* begin = static_cast<char*>(raw);
  char* aligned = static_cast<char*>(arena_of(begin + kArenaBytes - 1));
  if (aligned > begin) ::munmap(begin, static_cast<std::size_t>(aligned - begin));
  char* const end = begin + 2 * kArenaBytes;
  if (end > aligned + kArenaBytes) ::munmap(aligned + kArenaBytes, static_cast<std::size_t>(end - aligned) - kArenaBytes);
  ::madvise(aligned, kArenaBytes, MADV_HUGEPAGE);
  return aligned;
}

}  // namespace

BlockPool& BlockPool::instance() {
  static BlockPool& pool = *new BlockPool;  // never destroyed: threads may record after static destructors ran
  return pool;
}

bool BlockPool::map_arena() noexcept try {
  free_.reserve((arenas_.size() + 1) * kBlocksPerArena);  // give_back() must not allocate
  void* arena = map_aligned();
  if (arena == nullptr) return false;
  try {
    arenas_[arena] = kBlocksPerArena;
  } catch (...) {
    ::munmap(arena, kArenaBytes);
    return false;
  }
  for (unsigned i = kBlocksPerArena; i-- > 0;) free_.push_back(static_cast<char*>(arena) + i * kBlockBytes);
  return true;
} catch (...) {
  return false;
}

void* BlockPool::take() noexcept {
  std::lock_guard lock(mutex_);
  if (free_.empty() && !map_arena()) return nullptr;
  void* block = free_.back();
  free_.pop_back();
  --arenas_.find(arena_of(block))->second;
  return block;
}

void BlockPool::give_back(void* block) noexcept {
  std::lock_guard lock(mutex_);
  free_.push_back(block);
  ++arenas_.find(arena_of(block))->second;
}

void BlockPool::warm() noexcept {
  std::lock_guard lock(mutex_);
  if (free_.empty() && !map_arena()) return;
  constexpr std::size_t kPageBytes = 4096;
  auto* block = static_cast<volatile char*>(free_.back());
  for (std::size_t at = 0; at < kBlockBytes; at += kPageBytes) block[at] = 0;
}

void BlockPool::trim(std::size_t keep_bytes) noexcept {
  std::lock_guard lock(mutex_);
  std::size_t free_bytes = free_.size() * kBlockBytes;
  const std::size_t arenas_before = arenas_.size();
  for (auto at = arenas_.begin(); at != arenas_.end() && free_bytes > keep_bytes;) {
    if (at->second != kBlocksPerArena) {
      ++at;
      continue;
    }
    ::munmap(at->first, kArenaBytes);
    free_bytes -= kArenaBytes;
    at = arenas_.erase(at);
  }
  if (arenas_.size() != arenas_before) std::erase_if(free_, [this](void* block) { return !arenas_.contains(arena_of(block)); });
}

std::size_t BlockPool::mapped_bytes() {
  std::lock_guard lock(mutex_);
  return arenas_.size() * kArenaBytes;
}

std::size_t BlockPool::free_bytes() {
  std::lock_guard lock(mutex_);
  return free_.size() * kBlockBytes;
}

}  // namespace mindtorch::record
