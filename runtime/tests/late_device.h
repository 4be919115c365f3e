// A device that executes host code later: work is queued and runs only when the device is synchronized, so a kernel that touches memory
// outside of launch(), or keeps a pointer to the caller's variables, gives wrong results here. It takes the place of CUDA.
#pragma once

#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "mindtorch/runtime/caching_allocator.h"
#include "mindtorch/runtime/device.h"

namespace mindtorch::testing {

class FilledMemory : public RawMemory {
 public:
  void* reserve(std::size_t bytes) override {
    void* data = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    std::memset(data, 0xA5, bytes);
    return data;
  }
  void release(void* data, std::size_t) override { std::free(data); }
  Amount amount() const override { return {}; }
};

class SameAddresses final : public AddressMap {
  void* translate(const void* address) const override { return const_cast<void*>(address); }
};

// One stream, run to its end by synchronize() and by copies.
class LateDevice : public DeviceBackend {
 public:
  DeviceType type() const override { return kCUDA; }
  Status availability() const override { return Status::ok(); }
  int device_count() const override { return 1; }
  CachingAllocator& allocator(Device) override { return allocator_; }
  void launch(Device, const char* kernel, Work work) override {
    std::lock_guard lock(mutex_);
    names_.emplace_back(kernel);
    queue_.push_back(std::move(work));
  }
  void copy(Device device, void* to, const void* from, std::size_t bytes, CopyKind, bool) override {
    launch(device, "memcpy", [=](const AddressMap&) { std::memcpy(to, from, bytes); });
    synchronize(device);
  }
  void synchronize(Device) override {
    std::lock_guard lock(mutex_);
    while (!queue_.empty()) {
      const Work work = std::move(queue_.front());
      queue_.pop_front();
      try {
        work(SameAddresses());
      } catch (...) {
        queue_.clear();  // what follows may use what was not computed
        throw;
      }
    }
  }
  std::vector<std::string> take_names() {
    std::lock_guard lock(mutex_);
    return std::exchange(names_, {});
  }

 private:
  FilledMemory memory_;
  CachingAllocator allocator_{Device(kCUDA), memory_};
  std::recursive_mutex mutex_;
  std::deque<Work> queue_;
  std::vector<std::string> names_;
};

inline LateDevice& late_device() {
  static auto* device = [] {
    auto* made = new LateDevice();
    register_device_backend(*made);
    return made;
  }();
  return *device;
}

}  // namespace mindtorch::testing
