// A bounded pool of zeroed memory. Pages come from mmap, which gives them zeroed and only as they are touched.
#include "mindtorch/sources/buffers.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

namespace mindtorch::sources {
namespace {

std::uint8_t* map_buffer(std::size_t bytes) noexcept {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(memory);
}

}  // namespace

BufferPool::~BufferPool() {
  for (std::uint8_t* bytes : free_) ::munmap(bytes, buffer_bytes_);
  for (const Filled& buffer : filled_) ::munmap(buffer.bytes, buffer_bytes_);
}

void BufferPool::warm(std::size_t count) {
  std::lock_guard lock(mutex_);
  // A vector that never grows in take() and complete(): they run inside launches.
  free_.reserve(most_);
  filled_.reserve(most_);
  while (existing_ < std::min(count, most_)) {
    std::uint8_t* bytes = map_buffer(buffer_bytes_);
    if (bytes == nullptr) return;
    free_.push_back(bytes);
    ++existing_;
  }
}

std::uint8_t* BufferPool::take(bool may_refuse) noexcept {
  std::lock_guard lock(mutex_);
  if (!free_.empty()) {
    std::uint8_t* bytes = free_.back();
    free_.pop_back();
    ++taken_;
    return bytes;
  }
  std::uint8_t* bytes = existing_ < most_ || !may_refuse ? map_buffer(buffer_bytes_) : nullptr;
  if (bytes == nullptr) {
    ++refused_;
  } else {
    ++existing_;
    ++taken_;
  }
  return bytes;
}

void BufferPool::complete(std::uint8_t* bytes, std::size_t valid, std::uint32_t layout) noexcept {
  if (bytes == nullptr) return;
  {
    std::lock_guard lock(mutex_);
    --taken_;
    try {
      filled_.push_back({bytes, std::min(valid, buffer_bytes_), layout});
    } catch (const std::bad_alloc&) {  // there are more buffers than the vector was made for
      drop_locked(bytes);
      ++refused_;
    }
  }
  came_.notify_all();
}

std::vector<BufferPool::Filled> BufferPool::wait_filled(std::chrono::milliseconds patience) {
  std::vector<Filled> filled;
  std::unique_lock lock(mutex_);
  came_.wait_for(lock, patience, [this] { return !filled_.empty() || woken_; });
  woken_ = false;
  filled.assign(filled_.begin(), filled_.end());
  filled_.clear();  // keeps its capacity
  return filled;
}

void BufferPool::wake() {
  {
    std::lock_guard lock(mutex_);
    woken_ = true;
  }
  came_.notify_all();
}

bool BufferPool::wait_until_all_are_back(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  return came_.wait_for(lock, patience, [this] { return taken_ == 0; });
}

void BufferPool::recycle(const Filled& buffer) noexcept {
  std::memset(buffer.bytes, 0, buffer.valid);
  std::lock_guard lock(mutex_);
  if (existing_ > most_) {  // one that could not be refused
    drop_locked(buffer.bytes);
  } else {
    try {
      free_.push_back(buffer.bytes);
    } catch (const std::bad_alloc&) {
      drop_locked(buffer.bytes);
    }
  }
}

void BufferPool::drop_locked(std::uint8_t* bytes) noexcept {
  ::munmap(bytes, buffer_bytes_);
  --existing_;
}

void BufferPool::trim(std::size_t count) {
  std::lock_guard lock(mutex_);
  for (; free_.size() > count; free_.pop_back(), --existing_) ::munmap(free_.back(), buffer_bytes_);
}

std::uint64_t BufferPool::refused() const {
  std::lock_guard lock(mutex_);
  return refused_;
}

}  // namespace mindtorch::sources
