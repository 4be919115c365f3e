// A caching allocator: it takes memory from a device in large segments, gives it out in blocks, and keeps freed blocks for reuse.
//
// Requests are rounded up to 512 bytes. A block of up to 1 MiB has one of 40 size classes and is cut from a 2 MiB segment. Blocks of a
// class are interchangeable, so an allocation that finds a free one costs a lock and a pop. Larger blocks are cut to size from larger
// segments, best fit first. They are merged with their free neighbours when they are freed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "mindtorch/base/export.h"
#include "mindtorch/record/hooks.h"
#include "mindtorch/runtime/device.h"

namespace mindtorch {

// The source of an allocator's segments.
class MINDTORCH_EXPORT RawMemory {
 public:
  virtual ~RawMemory() = default;
  // At least 64-byte aligned; null if there is no more.
  virtual void* reserve(std::size_t bytes) = 0;
  // Must wait for work that may still use the memory.
  virtual void release(void* data, std::size_t bytes) = 0;
  struct Amount {
    std::size_t free = 0;
    std::size_t total = 0;
  };
  virtual Amount amount() const = 0;

  // A stream orders the work on memory that was allocated for it. On a device without streams, work is done when its call returns.
  static constexpr StreamId kEveryStream = ~StreamId{0};
  virtual StreamId current_stream() const { return 0; }
  // Makes the current stream wait for the work that was queued on `stream` before this call.
  virtual void wait_for_stream(StreamId) {}
};

struct MemorySegment;

// A block of memory that is in use or kept for reuse.
struct MemoryBlock {
  void* data = nullptr;
  std::size_t capacity = 0;   // bytes of the block
  std::size_t counted = 0;    // bytes in the statistics while in use
  std::size_t requested = 0;  // bytes asked for
  MemorySegment* segment = nullptr;
  MemoryBlock* next_free = nullptr;                 // small: the next free block of the class
  MemoryBlock *before = nullptr, *after = nullptr;  // large: neighbours in the segment
  StreamId stream = 0;                              // whose work may still use the memory
  std::int32_t size_class = -1;                     // -1: large
  bool in_use = false;
};

// One number followed over time, as torch's memory_stats() gives it.
struct MemoryStat {
  std::int64_t current = 0, peak = 0, allocated = 0, freed = 0;
  void increase(std::int64_t amount) {
    current += amount;
    allocated += amount;
    if (current > peak) peak = current;
  }
  void decrease(std::int64_t amount) {
    current -= amount;
    freed += amount;
  }
};

// Thread-safe. Every allocation and free is reported to the recorder.
class MINDTORCH_EXPORT CachingAllocator {
 public:
  enum class Count { kRequested, kRounded };  // what memory_allocated() counts: torch's CPU counts the former, its devices the latter

  CachingAllocator(Device device, RawMemory& memory, Count count = Count::kRounded);
  ~CachingAllocator();
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;

  // Never null for bytes > 0; null for 0. Throws OutOfMemory after trying to give cached segments back first.
  MemoryBlock* allocate(std::size_t bytes);
  void free(MemoryBlock* block) noexcept;

  Device device() const { return device_; }
  std::int64_t memory_allocated() const;
  std::int64_t max_memory_allocated() const;
  std::int64_t memory_reserved() const;
  std::int64_t max_memory_reserved() const;
  void reset_peak_memory_stats();
  void reset_accumulated_memory_stats();
  // Returns segments without a block in use to the device.
  void empty_cache();
  RawMemory::Amount mem_get_info() const { return memory_.amount(); }
  // torch's keys: "allocated_bytes.all.current", "segment.small_pool.peak", "num_ooms", ...
  std::map<std::string, std::int64_t> memory_stats() const;

 private:
  enum Pool { kAll = 0, kSmall = 1, kLarge = 2, kPools = 3 };
  static constexpr int kSizeClasses = 40;
  struct BySize {
    bool operator()(const MemoryBlock* a, const MemoryBlock* b) const {
      return a->capacity != b->capacity ? a->capacity < b->capacity : a->data < b->data;
    }
  };
  struct Stats {
    std::array<MemoryStat, kPools> allocated_bytes, requested_bytes, reserved_bytes, allocation, segment;
    std::int64_t retries = 0, out_of_memory = 0;
  };

  MemoryBlock* take_small(int size_class);
  MemoryBlock* take_large(std::size_t rounded);
  void put_large(MemoryBlock* block);
  MemorySegment* add_segment(std::size_t bytes, Pool pool);
  void release_free_segments();
  [[noreturn]] void report_out_of_memory(std::size_t bytes);
  void count_use(MemoryBlock* block, std::size_t bytes, std::size_t rounded);

  const Device device_;
  RawMemory& memory_;
  const Count count_;
  mutable std::mutex mutex_;
  std::array<MemoryBlock*, kSizeClasses> free_small_{};
  std::set<MemoryBlock*, BySize> free_large_;
  std::vector<std::unique_ptr<MemorySegment>> segments_;
  MemorySegment* carving_ = nullptr;  // the small segment that new blocks are cut from
  Stats stats_;
  record::MemoryOrder order_;  // of the changes of `stats_`
};

// The device has no more memory (torch.OutOfMemoryError).
class MINDTORCH_EXPORT OutOfMemory : public Error {
 public:
  using Error::Error;
};

// All allocators alive, for the recorder's baseline and for tools.
MINDTORCH_EXPORT std::vector<CachingAllocator*> caching_allocators();

}  // namespace mindtorch
