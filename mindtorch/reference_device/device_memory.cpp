// The address window and the bytes of a device, and its allocations.
#include "mindtorch/reference_device/device_memory.h"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include <new>

#include "mindtorch/base/error.h"

namespace mindtorch::reference_device {
namespace {

std::byte* reserve(std::size_t bytes, int protection) {
  void* at = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  return static_cast<std::byte*>(at);
}

constexpr std::size_t round_up(std::size_t bytes) {
  return (bytes + DeviceMemory::kAlignment - 1) / DeviceMemory::kAlignment * DeviceMemory::kAlignment;
}

// Returns whole pages in [first, last) to the system. The rest keeps its values.
void give_back(std::byte* base, std::size_t first, std::size_t last) {
  constexpr std::size_t kPage = 65536;  // a multiple of all common page sizes
  first = (first + kPage - 1) / kPage * kPage;
  last = last / kPage * kPage;
  if (first < last) madvise(base + first, last - first, MADV_DONTNEED);
}

}  // namespace

void* DeviceView::at(const void* address) const {
  if (address == nullptr) return nullptr;
  const auto offset = reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(window_);
  // One past the end is a valid address of an empty range.
  if (offset > size_) throw_error<InvalidArgument>("reference_device.kernel", "{} is not an address of device {}", address, device_);
  return backing_ + offset;
}

DeviceMemory::DeviceMemory(int device, std::size_t bytes) {
  view_.device_ = device;
  view_.size_ = bytes / kAlignment * kAlignment;
  view_.window_ = reserve(view_.size_, PROT_NONE);
  try {
    view_.backing_ = reserve(view_.size_, PROT_READ | PROT_WRITE);
  } catch (...) {
    munmap(const_cast<std::byte*>(view_.window_), view_.size_);
    throw;
  }
  free_.emplace(0, view_.size_);
}

DeviceMemory::~DeviceMemory() {
  ASAN_UNPOISON_MEMORY_REGION(view_.backing_, view_.size_);
  munmap(view_.backing_, view_.size_);
  munmap(const_cast<std::byte*>(view_.window_), view_.size_);
}

std::size_t DeviceMemory::offset_of(const void* address) const noexcept {
  return reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(view_.window_);
}

bool DeviceMemory::owns(const void* address) const noexcept { return offset_of(address) < view_.size_; }

bool DeviceMemory::is_live(const void* address, std::size_t bytes) const {
  if (!owns(address)) return false;
  const std::size_t offset = offset_of(address);
  std::lock_guard lock(mutex_);
  auto block = live_.upper_bound(offset);
  if (block == live_.begin()) return false;
  --block;
  const std::size_t inside = offset - block->first;
  return inside <= block->second.bytes && bytes <= block->second.bytes - inside;
}

Result DeviceMemory::allocate(std::size_t bytes, void** address) {
  *address = nullptr;
  if (bytes == 0) return Result::kSuccess;
  if (bytes > view_.size_) return Result::kOutOfMemory;
  const std::size_t footprint = round_up(bytes);
  std::lock_guard lock(mutex_);
  for (auto hole = free_.begin(); hole != free_.end(); ++hole) {
    if (hole->second < footprint) continue;
    const auto [offset, room] = *hole;
    free_.erase(hole);
    if (room > footprint) free_.emplace(offset + footprint, room - footprint);
    live_.emplace(offset, Block{bytes, footprint});
    // In builds with the address sanitizer, it finds kernels that access memory outside of their allocations.
    ASAN_UNPOISON_MEMORY_REGION(view_.backing_ + offset, bytes);
    ASAN_POISON_MEMORY_REGION(view_.backing_ + offset + bytes, footprint - bytes);
    *address = const_cast<std::byte*>(view_.window_) + offset;
    return Result::kSuccess;
  }
  return Result::kOutOfMemory;
}

Result DeviceMemory::release(void* address) {
  std::lock_guard lock(mutex_);
  const auto block = live_.find(offset_of(address));
  if (block == live_.end()) return Result::kInvalidAddress;
  std::size_t offset = block->first;
  std::size_t bytes = block->second.footprint;
  live_.erase(block);
  give_back(view_.backing_, offset, offset + bytes);
  ASAN_POISON_MEMORY_REGION(view_.backing_ + offset, bytes);
  auto after = free_.lower_bound(offset);
  if (after != free_.end() && after->first == offset + bytes) {
    bytes += after->second;
    after = free_.erase(after);
  }
  if (after != free_.begin()) {
    const auto before = std::prev(after);
    if (before->first + before->second == offset) {
      before->second += bytes;
      return Result::kSuccess;
    }
  }
  free_.emplace(offset, bytes);
  return Result::kSuccess;
}

std::size_t DeviceMemory::free_bytes() const {
  std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  for (const auto& [offset, room] : free_) bytes += room;
  return bytes;
}

}  // namespace mindtorch::reference_device
