// Storage: the memory that a tensor and its views share, and its version.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/caching_allocator.h"
#include "mindtorch/runtime/device.h"
#include "mindtorch/runtime/intrusive_ptr.h"

namespace mindtorch {

class MINDTORCH_EXPORT Storage : public RefCounted {
 public:
  // Allocates memory from the device's caching allocator. It is not initialised.
  static IntrusivePtr<Storage> allocate(std::size_t bytes, Device device);
  // Wraps memory of another owner. `release` is called when the last tensor that uses it is destroyed.
  static IntrusivePtr<Storage> wrap(void* data, std::size_t bytes, Device device, std::function<void()> release);
  ~Storage();

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  Device device() const { return device_; }

  // Counts the writes to this memory. Autograd compares it to detect that a saved value was overwritten.
  std::uint32_t version() const { return version_.load(std::memory_order_relaxed); }
  void bump_version() { version_.fetch_add(1, std::memory_order_relaxed); }

 private:
  Storage(void* data, std::size_t bytes, Device device, CachingAllocator* allocator, MemoryBlock* block)
      : data_(data), bytes_(bytes), allocator_(allocator), block_(block), device_(device) {}

  void* data_;
  std::size_t bytes_;
  CachingAllocator* allocator_;  // null: the memory has another owner
  MemoryBlock* block_;
  std::function<void()>* release_ = nullptr;
  std::atomic<std::uint32_t> version_{0};
  Device device_;
};

}  // namespace mindtorch
