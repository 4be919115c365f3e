// Sizes of live blocks of memory by address, for many threads at once. Needs nothing of torch.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace mindtorch::torch_bridge {

// A spin lock that is held for a few nanoseconds and rarely contended. It is cheaper than a std::mutex, which every block would lock twice.
class ShortLock {
 public:
  void lock() noexcept {
    while (taken_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

// The table is split into parts with one lock each, so that threads rarely wait. Each part uses open addressing with linear probing.
class AllocationTable {
 public:
  // False if there is no memory for it. A known address gets the new size.
  bool insert(const void* address, std::size_t bytes) noexcept;
  // Removes the address and returns its size; 0 if it was unknown.
  std::size_t remove(const void* address) noexcept;

  // For fork(): a child must not find a lock taken by a thread that it does not have.
  void lock() noexcept;
  void unlock() noexcept;

 private:
  struct Entry {
    std::uintptr_t address = 0;  // 0: free
    std::size_t bytes = 0;
  };
  class alignas(64) Part {
   public:
    bool insert(std::uintptr_t address, std::uint64_t hash, std::size_t bytes) noexcept;
    std::size_t remove(std::uintptr_t address, std::uint64_t hash) noexcept;

    ShortLock lock;

   private:
    std::size_t find(std::uintptr_t address, std::uint64_t hash) const noexcept;
    void grow();

    std::vector<Entry> entries_;  // a power of two of them, at most half in use
    std::size_t used_ = 0;
  };
  static constexpr std::size_t kParts = 16;

  static std::uint64_t hash_of(std::uintptr_t address) noexcept { return (address >> 4) * 0x9E3779B97F4A7C15u; }

  std::array<Part, kParts> parts_;
};

}  // namespace mindtorch::torch_bridge
