// The buffers that a vendor's library fills: a bounded pool of zeroed memory, and a queue of those that came back.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace mindtorch::sources {

// Any thread. A vendor's library calls take() and complete() on threads of the program while it holds its own locks, so both only move
// pointers.
class BufferPool {
 public:
  struct Filled {
    std::uint8_t* bytes = nullptr;
    std::size_t valid = 0;
    std::uint32_t layout = 0;  // the number that complete() was given
  };

  BufferPool(std::size_t buffer_bytes, std::size_t most) : buffer_bytes_(buffer_bytes), most_(most) {}
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  std::size_t buffer_bytes() const { return buffer_bytes_; }
  // Allocates this many buffers, so that the first requests need not wait for the system.
  void warm(std::size_t count);
  // Returns a zeroed buffer, or null if all buffers are in use and `may_refuse` is true, or if memory is exhausted.
  std::uint8_t* take(bool may_refuse) noexcept;
  // `layout` says how the records in the buffer are to be read, if a source knows several ways.
  void complete(std::uint8_t* bytes, std::size_t valid, std::uint32_t layout = 0) noexcept;
  // Returns the completed buffers in order. Waits up to `patience` for one, or for wake().
  std::vector<Filled> wait_filled(std::chrono::milliseconds patience);
  void wake();
  // Waits until the library has handed back every buffer that it took, for at most `patience`. False if one is still missing.
  bool wait_until_all_are_back(std::chrono::milliseconds patience);
  // Zeroes what was used and makes the buffer available again.
  void recycle(const Filled& buffer) noexcept;

  // Gives the memory of free buffers back to the system, except for that of `count` buffers.
  void trim(std::size_t count);

  std::uint64_t refused() const;

 private:
  void drop_locked(std::uint8_t* bytes) noexcept;

  const std::size_t buffer_bytes_;
  const std::size_t most_;
  mutable std::mutex mutex_;
  std::condition_variable came_;
  std::vector<std::uint8_t*> free_;
  std::vector<Filled> filled_;
  std::size_t existing_ = 0;
  std::size_t taken_ = 0;  // by the library, and not completed
  std::uint64_t refused_ = 0;
  bool woken_ = false;
};

}  // namespace mindtorch::sources
