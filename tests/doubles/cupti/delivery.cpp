// The life of a buffer: request, fill, close, hand over.
#include "tests/doubles/cupti/delivery.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tests/doubles/cupti/library.h"

namespace cupti_double {
namespace {

// Each byte equals the next and the first is zero: memcmp is quick also under sanitizers, where a loop over megabytes is not.
bool is_zero(const std::uint8_t* bytes, std::size_t size) { return bytes[0] == 0 && std::memcmp(bytes, bytes + 1, size - 1) == 0; }

}  // namespace

Delivery::~Delivery() {
  {
    std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Delivery::register_callbacks(abi::BufferRequested requested, abi::BufferCompleted completed) {
  std::lock_guard lock(mutex_);
  requested_ = requested;
  completed_ = completed;
}

void Delivery::register_callbacks(abi::SharedBufferRequested requested, abi::SharedBufferCompleted completed) {
  std::lock_guard lock(mutex_);
  shared_requested_ = requested;
  shared_completed_ = completed;
}

bool Delivery::is_registered() const {
  std::lock_guard lock(mutex_);
  return completed_ != nullptr || shared_completed_ != nullptr;
}

void Delivery::set_faults(const CuptiDoubleFaults& faults) {
  std::lock_guard lock(mutex_);
  faults_ = faults;
  random_.seed(faults.shuffle_seed);
}

void Delivery::trust_zeroed_buffers(bool trust) {
  std::lock_guard lock(mutex_);
  trust_zeroed_ = trust;
}

bool Delivery::has_room(const Buffer& buffer, std::size_t bytes) const {
  const bool takes_more_records = buffer.max_records == 0 || buffer.record_sizes.size() < buffer.max_records;
  return buffer.bytes != nullptr && takes_more_records && buffer.used + bytes <= buffer.size;
}

Delivery::Buffer Delivery::new_buffer() {
  Buffer buffer;
  const CuptiDoubleLayouts variation = library().layouts();
  if (shared_requested_ != nullptr) buffer.layouts = layouts_.next(variation.seed, variation.change_every, variation.correlation_base);
  return buffer;
}

std::string Delivery::written(const Buffer& buffer, const std::string& record) {
  return buffer.layouts != nullptr ? buffer.layouts->encode(record) : record;
}

bool Delivery::request(Buffer& buffer, std::size_t needed) {
  if (shared_requested_ != nullptr) {
    abi::RequestInfo info{sizeof info};
    shared_requested_(&buffer.bytes, &buffer.size, &buffer.max_records, &info);
  } else if (requested_ != nullptr) {
    requested_(&buffer.bytes, &buffer.size, &buffer.max_records);
  }
  if (buffer.bytes == nullptr || buffer.size == 0) return false;
  ++held_;
  if (reinterpret_cast<std::uintptr_t>(buffer.bytes) % 8 != 0) report_violation("a buffer is not aligned to 8 bytes");
  if (!trust_zeroed_) {
    std::memset(buffer.bytes, 0, buffer.size);
  } else if (!is_zero(buffer.bytes, buffer.size)) {
    report_violation("a buffer is not zero, though the client promised so");
  }
  if (buffer.size >= needed) return true;
  report_violation("a buffer is too small for one record");
  close(std::exchange(buffer, {}));
  return false;
}

void Delivery::append(std::uint64_t lane, const std::string& record) {
  std::lock_guard lock(mutex_);
  Buffer& buffer = open_[lane];
  std::string bytes = written(buffer, record);
  // A kind that was enabled after the buffer was handed out has no layout in it.
  if (bytes.empty() || !has_room(buffer, bytes.size())) {
    if (buffer.bytes != nullptr) close(std::exchange(buffer, {}));
    buffer = new_buffer();
    bytes = written(buffer, record);
    if (bytes.empty() || !request(buffer, bytes.size())) {
      buffer = {};
      ++dropped_;
      return;
    }
  }
  std::memcpy(buffer.bytes + buffer.used, bytes.data(), bytes.size());
  buffer.used += bytes.size();
  buffer.record_sizes.push_back(bytes.size());
}

void Delivery::end_buffer(std::uint64_t lane) {
  std::lock_guard lock(mutex_);
  if (const auto found = open_.find(lane); found != open_.end() && found->second.bytes != nullptr) close(std::exchange(found->second, {}));
}

void Delivery::close(Buffer buffer) {
  buffer.due_flush = flushes_ + faults_.late_by_flushes;
  if (faults_.shuffle_seed != 0) {
    buffer.due_flush = std::max(buffer.due_flush, flushes_ + 1);  // kept until it can change places with others
    shuffle_records(buffer);
  }
  closed_.push_back(std::move(buffer));
  changed_.notify_all();
}

void Delivery::shuffle_records(Buffer& buffer) {
  std::vector<std::string> records;
  std::size_t offset = 0;
  for (const std::size_t size : buffer.record_sizes) {
    records.emplace_back(reinterpret_cast<const char*>(buffer.bytes) + offset, size);
    offset += size;
  }
  std::shuffle(records.begin(), records.end(), random_);
  offset = 0;
  for (const std::string& record : records) {
    std::memcpy(buffer.bytes + offset, record.data(), record.size());
    offset += record.size();
  }
}

void Delivery::flush() {
  std::unique_lock lock(mutex_);
  for (auto& [lane, buffer] : open_) {
    if (buffer.bytes != nullptr) close(std::exchange(buffer, {}));
  }
  ++flushes_;
  if (faults_.shuffle_seed != 0) std::shuffle(closed_.begin(), closed_.end(), random_);
  changed_.notify_all();
  changed_.wait(lock, [this] {
    return !is_handing_over_ && std::none_of(closed_.begin(), closed_.end(), [this](const Buffer& each) { return is_due(each); });
  });
}

void Delivery::hand_over_buffers() {
  std::unique_lock lock(mutex_);
  const auto next_due = [this] {
    return std::find_if(closed_.begin(), closed_.end(), [this](const Buffer& each) { return is_due(each); });
  };
  while (true) {
    changed_.wait(lock, [&] { return ends_ || next_due() != closed_.end(); });
    if (ends_) return;
    const auto due = next_due();
    const Buffer buffer = std::move(*due);
    closed_.erase(due);
    is_handing_over_ = true;
    const abi::BufferCompleted completed = completed_;
    const abi::SharedBufferCompleted shared_completed = shared_completed_;
    lock.unlock();
    {
      std::lock_guard client_runs(handing_over_);
      if (buffer.layouts == nullptr) {
        completed(nullptr, 0, buffer.bytes, buffer.size, buffer.used);
      } else {
        DescribedLayouts described(*buffer.layouts);
        shared_completed(buffer.bytes, buffer.size, buffer.used, library().layouts().are_kept_secret ? nullptr : described.info());
      }
    }
    lock.lock();
    --held_;
    is_handing_over_ = false;
    changed_.notify_all();
  }
}

void Delivery::count_dropped(std::uint64_t count) {
  std::lock_guard lock(mutex_);
  dropped_ += count;
}

std::uint64_t Delivery::take_dropped() {
  std::scoped_lock lock(handing_over_, mutex_);
  return std::exchange(dropped_, 0);
}

std::uint64_t Delivery::buffers_held() const {
  std::lock_guard lock(mutex_);
  return held_;
}

void Delivery::reset() {
  set_faults({});
  for (bool is_empty = false; !is_empty;) {  // the client gets its buffers back, late ones included
    flush();
    std::lock_guard lock(mutex_);
    is_empty = closed_.empty();
  }
  std::lock_guard lock(mutex_);
  requested_ = nullptr;
  completed_ = nullptr;
  shared_requested_ = nullptr;
  shared_completed_ = nullptr;
  trust_zeroed_ = false;
  dropped_ = 0;
}

}  // namespace cupti_double
