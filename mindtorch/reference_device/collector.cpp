// Collecting and delivering activity records.
#include "mindtorch/reference_device/collector.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <unordered_set>
#include <utility>

namespace mindtorch::reference_device {

thread_local bool on_library_thread = false;

std::uint64_t monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint32_t current_thread_id() noexcept {
  thread_local const auto id = static_cast<std::uint32_t>(syscall(SYS_gettid));
  return id;
}

const char* lasting_name(std::string_view name) {
  static std::mutex mutex;
  static auto& names = *new std::unordered_set<std::string>();
  std::lock_guard lock(mutex);
  return names.emplace(name).first->c_str();
}

Result Collector::subscribe(const Subscriber& subscriber) {
  if (subscriber.request == nullptr || subscriber.complete == nullptr) return Result::kInvalidArgument;
  std::lock_guard subscription(subscription_mutex_);
  std::lock_guard lock(mutex_);
  if (subscribed_) return Result::kAlreadySubscribed;
  subscriber_ = subscriber;
  dropped_ = 0;
  subscribed_ = true;
  thread_ = std::thread([this] { deliver_until_unsubscribed(); });
  return Result::kSuccess;
}

Result Collector::unsubscribe() {
  if (Result result = collect(0); result != Result::kSuccess) return result;
  std::lock_guard subscription(subscription_mutex_);
  {
    std::lock_guard lock(mutex_);
    if (!std::exchange(subscribed_, false)) return Result::kNotSubscribed;
  }
  wake_.notify_one();
  thread_.join();
  return Result::kSuccess;
}

Result Collector::collect(std::uint32_t kinds) {
  if ((kinds & ~kAllActivities) != 0) return Result::kInvalidArgument;
  std::lock_guard subscription(subscription_mutex_);
  {
    std::lock_guard lock(mutex_);
    if (!subscribed_) return Result::kNotSubscribed;
  }
  // No call mixes two sets: first nothing is collected, then running calls end, then the new set is applied.
  const std::uint64_t generation = (set_.load() >> 32) + 1;
  set_.store(generation << 32);
  for (std::uint32_t inside = entered_.load(); inside != 0; inside = entered_.load()) entered_.wait(inside);
  set_.store(generation << 32 | kinds);
  return Result::kSuccess;
}

Collector::Set Collector::enter() noexcept {
  if (static_cast<std::uint32_t>(set_.load(std::memory_order_relaxed)) == 0) return {};
  entered_.fetch_add(1);
  const std::uint64_t set = set_.load();
  if (static_cast<std::uint32_t>(set) == 0) {
    leave();
    return {};
  }
  return {static_cast<std::uint32_t>(set), static_cast<std::uint32_t>(set >> 32)};
}

void Collector::leave() noexcept {
  if (entered_.fetch_sub(1) == 1) entered_.notify_all();
}

void Collector::add(Record record) {
  std::lock_guard lock(mutex_);
  const bool lost = !subscribed_ || waiting_.size() >= config_.channel_capacity;
  if (lost || (config_.drop_every != 0 && ++seen_ % config_.drop_every == 0)) {
    ++dropped_;
    return;
  }
  if (config_.blank_every != 0 && !std::holds_alternative<ApiActivity>(record) && ++seen_on_device_ % config_.blank_every == 0) {
    std::visit([](auto& activity) { activity.start = activity.end = 0; }, record);
  }
  waiting_.push_back(std::move(record));
  if (waiting_.size() >= config_.batch_records) wake_.notify_one();
}

Result Collector::flush() {
  std::unique_lock lock(mutex_);
  if (!subscribed_) return Result::kNotSubscribed;
  const std::uint64_t mine = ++flushes_asked_;
  wake_.notify_one();
  delivered_.wait(lock, [&] { return flushes_done_ >= mine; });
  return Result::kSuccess;
}

Result Collector::take_dropped(std::uint64_t* count) {
  std::lock_guard lock(mutex_);
  if (!subscribed_) return Result::kNotSubscribed;
  *count = std::exchange(dropped_, 0);
  return Result::kSuccess;
}

void Collector::deliver_until_unsubscribed() {
  on_library_thread = true;
  std::unique_lock lock(mutex_);
  for (bool last = false; !last;) {
    wake_.wait(lock, [&] { return !subscribed_ || flushes_asked_ != flushes_done_ || waiting_.size() >= config_.batch_records; });
    last = !subscribed_;
    const std::uint64_t flushes = flushes_asked_;
    const bool all = last || flushes != flushes_done_;
    std::vector<Record> batch = std::move(held_);
    held_.clear();
    batch.insert(batch.end(), std::make_move_iterator(waiting_.begin()), std::make_move_iterator(waiting_.end()));
    waiting_.clear();
    lock.unlock();
    if (config_.disorder_seed != 0) {
      std::shuffle(batch.begin(), batch.end(), disorder_);
      if (!all) {
        const auto kept = batch.end() - static_cast<std::ptrdiff_t>(batch.size() / 4);
        held_.assign(kept, batch.end());
        batch.erase(kept, batch.end());
      }
    }
    deliver(batch, all);
    lock.lock();
    flushes_done_ = flushes;
    delivered_.notify_all();
  }
}

void Collector::deliver(const std::vector<Record>& batch, bool all) {
  std::uint64_t lost = 0;
  for (const Record& record : batch) {
    if (!write(record)) ++lost;
  }
  if (all) complete_buffer();
  std::lock_guard lock(mutex_);
  dropped_ += lost;
}

bool Collector::write(const Record& record) {
  return std::visit(
      [this](const auto& activity) {
        if (buffer_.valid + sizeof activity > buffer_.bytes) {
          complete_buffer();
          subscriber_.request(subscriber_.user, &buffer_.data, &buffer_.bytes);
          if (buffer_.data == nullptr) buffer_.bytes = 0;
        }
        if (buffer_.valid + sizeof activity > buffer_.bytes) return false;  // refused, or too small for even one record
        std::memcpy(buffer_.data + buffer_.valid, &activity, sizeof activity);
        buffer_.valid += sizeof activity;
        return true;
      },
      record);
}

void Collector::complete_buffer() {
  if (buffer_.data != nullptr) subscriber_.complete(subscriber_.user, buffer_.data, buffer_.bytes, buffer_.valid);
  buffer_ = {};
}

}  // namespace mindtorch::reference_device
