// The memory of one device: a window of addresses that the host cannot access, and the bytes behind it, which only kernels access.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "mindtorch/reference_device/device.h"

namespace mindtorch::reference_device {

class DeviceMemory {
 public:
  static constexpr std::size_t kAlignment = 512;

  // Reserves address space for the window and for the bytes. Neither uses memory before it is touched. Throws std::bad_alloc.
  DeviceMemory(int device, std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  Result allocate(std::size_t bytes, void** address);
  Result release(void* address);
  std::size_t free_bytes() const;
  std::size_t total_bytes() const noexcept { return view_.size_; }

  // True if `address` lies in this device's window, allocated or not.
  bool owns(const void* address) const noexcept;
  // True if all of [address, address + bytes) lies in one live allocation.
  bool is_live(const void* address, std::size_t bytes) const;
  const DeviceView& view() const noexcept { return view_; }

 private:
  struct Block {
    std::size_t bytes;      // as asked for
    std::size_t footprint;  // rounded up to the alignment
  };
  std::size_t offset_of(const void* address) const noexcept;

  DeviceView view_;
  mutable std::mutex mutex_;
  std::map<std::size_t, Block> live_;        // by offset
  std::map<std::size_t, std::size_t> free_;  // offset -> bytes; neighbours are always joined
};

}  // namespace mindtorch::reference_device
