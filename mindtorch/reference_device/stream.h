// A stream: a queue of tasks and the worker that runs them in order.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "mindtorch/reference_device/collector.h"
#include "mindtorch/reference_device/device.h"

namespace mindtorch::reference_device {

class Device;

// One task of a stream.
struct Task {
  std::string name;
  Kernel body;
  ActivityKind kind = kKernelActivity;
  std::uint64_t correlation = 0;
  std::uint32_t launched_by = 0;  // OS thread id
  std::optional<Record> record;   // to be completed with times and delivered; unset if it is not collected
  bool is_mark = false;           // the position of an event, or host code: not an activity of the device
  bool runs_always = false;       // marks and waits: others depend on them, so a failed stream does not skip them
};

class Stream {
 public:
  Stream(Device& device, int id);
  // Finishes queued work.
  ~Stream();

  Device& device() const noexcept { return device_; }
  int id() const noexcept { return id_; }

  // Returns the error of the stream if it has one; the task is then not queued.
  Result enqueue(Task task);
  Result query();
  Result synchronize();
  void clear_error();
  std::string error_text() const;
  // From now on only marks and waits are executed; other queued tasks are dropped.
  void abandon();

 private:
  void run();
  void carry_out(Task& task);
  void fail(const Task& task, const char* why);

  Device& device_;
  const int id_;
  mutable std::mutex mutex_;
  std::condition_variable queued_;
  std::condition_variable finished_one_;
  std::deque<Task> queue_;
  std::uint64_t submitted_ = 0;
  std::uint64_t finished_ = 0;
  bool stopping_ = false;
  bool abandoned_ = false;
  Result error_ = Result::kSuccess;
  std::string error_text_;
  std::thread worker_;  // last: it uses all of the above
};

}  // namespace mindtorch::reference_device
