// The worker of a stream.
#include "mindtorch/reference_device/stream.h"

#include <fmt/core.h>

#include <exception>
#include <utility>

#include "mindtorch/reference_device/driver.h"

namespace mindtorch::reference_device {

Stream::Stream(Device& device, int id) : device_(device), id_(id), worker_([this] { run(); }) {}

Stream::~Stream() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  queued_.notify_one();
  worker_.join();
}

Result Stream::enqueue(Task task) {
  {
    std::lock_guard lock(mutex_);
    if (error_ != Result::kSuccess && !task.runs_always) return error_;
    if (abandoned_) return Result::kPoweredOff;
    queue_.push_back(std::move(task));
    ++submitted_;
  }
  queued_.notify_one();
  return Result::kSuccess;
}

Result Stream::query() {
  std::lock_guard lock(mutex_);
  if (error_ != Result::kSuccess) return error_;
  return finished_ == submitted_ ? Result::kSuccess : Result::kNotReady;
}

Result Stream::synchronize() {
  std::unique_lock lock(mutex_);
  // Waits only for earlier tasks, so that a thread that keeps launching cannot block this one.
  finished_one_.wait(lock, [this, until = submitted_] { return finished_ >= until; });
  return error_;
}

void Stream::clear_error() {
  std::unique_lock lock(mutex_);
  finished_one_.wait(lock, [this] { return finished_ == submitted_; });
  error_ = Result::kSuccess;
  error_text_.clear();
}

std::string Stream::error_text() const {
  std::lock_guard lock(mutex_);
  return error_text_;
}

void Stream::abandon() {
  std::lock_guard lock(mutex_);
  abandoned_ = true;
}

void Stream::run() {
  on_library_thread = true;
  std::unique_lock lock(mutex_);
  for (;;) {
    queued_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    Task task = std::move(queue_.front());
    queue_.pop_front();
    const bool skip = (abandoned_ || error_ != Result::kSuccess) && !task.runs_always;
    lock.unlock();
    if (!skip) carry_out(task);
    // The task's resources are released before the task counts as finished.
    task.body = nullptr;
    lock.lock();
    ++finished_;
    finished_one_.notify_all();
  }
}

void Stream::carry_out(Task& task) {
  const Moment start = device_.now();
  try {
    task.body(device_.memory().view());
  } catch (const std::exception& failure) {
    fail(task, failure.what());
  } catch (...) {
    fail(task, "unknown exception");
  }
  if (!task.is_mark) device_.report(task, id_, start, device_.now());
}

void Stream::fail(const Task& task, const char* why) {
  std::lock_guard lock(mutex_);
  error_ = Result::kKernelFailed;
  error_text_ = fmt::format("'{}' failed on stream {} of device {}: {}", task.name, id_, device_.index(), why);
}

}  // namespace mindtorch::reference_device
