// The life of a buffer: request, fill, retire or flush.
#include "tests/doubles/mspti/delivery.h"

#include <cstring>
#include <utility>

#include "tests/doubles/mspti/library.h"

namespace mspti_double {
namespace {

thread_local bool in_callback = false;

}  // namespace

bool Delivery::is_in_callback() { return in_callback; }

void Delivery::register_callbacks(abi::BufferRequested requested, abi::BufferCompleted completed) {
  std::lock_guard lock(mutex_);
  requested_ = requested;
  completed_ = completed;
}

bool Delivery::is_registered() const {
  std::lock_guard lock(mutex_);
  return completed_ != nullptr;
}

Delivery::Buffer Delivery::request() {
  Buffer buffer;
  std::size_t max_records = 0;
  in_callback = true;
  requested_(&buffer.bytes, &buffer.size, &max_records);
  in_callback = false;
  if (buffer.bytes == nullptr) {
    if (refused_++ == 0) retire(buffer);
    return {};
  }
  ++held_;
  if (reinterpret_cast<std::uintptr_t>(buffer.bytes) % 8 != 0) report_violation("a buffer is not aligned to 8 bytes");
  return buffer;
}

void Delivery::append(const void* record, std::size_t bytes) {
  std::lock_guard lock(mutex_);
  if (requested_ == nullptr) return;
  if (current_.bytes == nullptr) current_ = request();
  if (current_.bytes == nullptr) return;
  std::memcpy(current_.bytes + current_.used, record, bytes);
  current_.used += bytes;
  if (current_.used * 10 >= current_.size * 8) retire(std::exchange(current_, {}));
}

// Each buffer has a thread of its own for that, so that buffers may come back in any order.
void Delivery::retire(const Buffer& buffer) {
  std::lock_guard lock(retirement_mutex_);
  retirements_.emplace_back([this, buffer, completed = completed_] {
    {
      std::unique_lock waiting(retirement_mutex_);
      released_.wait(waiting, [this] { return !holds_retired_; });
    }
    hand_over(buffer, completed);
    if (buffer.bytes == nullptr) return;
    std::lock_guard counting(mutex_);
    --held_;
  });
}

void Delivery::hand_over(const Buffer& buffer, abi::BufferCompleted completed) {
  in_callback = true;
  completed(buffer.bytes, buffer.size, buffer.used);
  in_callback = false;
}

void Delivery::flush() {
  std::lock_guard lock(mutex_);
  if (current_.bytes == nullptr) return;
  hand_over(std::exchange(current_, {}), completed_);
  --held_;
}

void Delivery::hold_retired_buffers(bool hold) {
  {
    std::lock_guard lock(retirement_mutex_);
    holds_retired_ = hold;
  }
  released_.notify_all();
}

void Delivery::hoard_buffers() {
  std::lock_guard lock(mutex_);
  if (requested_ == nullptr) return;
  for (Buffer buffer = request(); buffer.bytes != nullptr; buffer = request()) hoard_.push_back(buffer);
}

void Delivery::hand_back_hoard() {
  std::lock_guard lock(mutex_);
  for (const Buffer& buffer : std::exchange(hoard_, {})) {
    hand_over(buffer, completed_);
    --held_;
  }
}

std::uint64_t Delivery::buffers_held() const {
  std::lock_guard lock(mutex_);
  return held_;
}

std::uint64_t Delivery::refused() const {
  std::lock_guard lock(mutex_);
  return refused_;
}

void Delivery::join_retirements() {
  std::vector<std::thread> threads;
  {
    std::lock_guard lock(retirement_mutex_);
    threads = std::exchange(retirements_, {});
  }
  for (std::thread& thread : threads) thread.join();
}

void Delivery::reset() {
  hold_retired_buffers(false);
  join_retirements();
  hand_back_hoard();
  flush();
  std::lock_guard lock(mutex_);
  requested_ = nullptr;
  completed_ = nullptr;
  refused_ = 0;
}

}  // namespace mspti_double
