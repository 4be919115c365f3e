// Linear probing; a removal closes the gap, so that no marks of dead entries pile up.
#include "mindtorch/bridges/torch/allocation_table.h"

#include <mutex>
#include <utility>

namespace mindtorch::torch_bridge {
namespace {

constexpr std::size_t kFirstEntries = 64;

// The part takes the top bits of the hash, the place in it those below.
std::size_t home_of(std::uint64_t hash, std::size_t entries) { return (hash >> 20) & (entries - 1); }

}  // namespace

std::size_t AllocationTable::Part::find(std::uintptr_t address, std::uint64_t hash) const noexcept {
  std::size_t at = home_of(hash, entries_.size());
  while (entries_[at].address != 0 && entries_[at].address != address) at = (at + 1) & (entries_.size() - 1);
  return at;
}

void AllocationTable::Part::grow() {
  std::vector<Entry> old(entries_.empty() ? kFirstEntries : 2 * entries_.size());
  old.swap(entries_);
  for (const Entry& entry : old)
    if (entry.address != 0) entries_[find(entry.address, hash_of(entry.address))] = entry;
}

bool AllocationTable::Part::insert(std::uintptr_t address, std::uint64_t hash, std::size_t bytes) noexcept try {
  std::lock_guard guard(lock);
  if (2 * (used_ + 1) > entries_.size()) grow();
  Entry& entry = entries_[find(address, hash)];
  if (entry.address == 0) ++used_;
  entry = {address, bytes};
  return true;
} catch (...) {
  return false;
}

std::size_t AllocationTable::Part::remove(std::uintptr_t address, std::uint64_t hash) noexcept {
  std::lock_guard guard(lock);
  if (used_ == 0) return 0;
  const std::size_t mask = entries_.size() - 1;
  std::size_t gap = find(address, hash);
  if (entries_[gap].address == 0) return 0;
  const std::size_t bytes = entries_[gap].bytes;
  // What comes after and would be looked for at or before the gap moves into it.
  for (std::size_t at = (gap + 1) & mask; entries_[at].address != 0; at = (at + 1) & mask) {
    const std::size_t home = home_of(hash_of(entries_[at].address), entries_.size());
    if (((at - home) & mask) >= ((at - gap) & mask)) {
      entries_[gap] = entries_[at];
      gap = at;
    }
  }
  entries_[gap] = {};
  --used_;
  return bytes;
}

bool AllocationTable::insert(const void* address, std::size_t bytes) noexcept {
  const auto key = reinterpret_cast<std::uintptr_t>(address);
  const std::uint64_t hash = hash_of(key);
  return parts_[hash >> 60].insert(key, hash, bytes);
}

std::size_t AllocationTable::remove(const void* address) noexcept {
  const auto key = reinterpret_cast<std::uintptr_t>(address);
  const std::uint64_t hash = hash_of(key);
  return parts_[hash >> 60].remove(key, hash);
}

void AllocationTable::lock() noexcept {
  for (Part& part : parts_) part.lock.lock();
}

void AllocationTable::unlock() noexcept {
  for (Part& part : parts_) part.lock.unlock();
}

}  // namespace mindtorch::torch_bridge
