// One call of device.h by a program, for the collector. It lasts from construction to destruction, on one thread.
#pragma once

#include <cstdint>
#include <utility>

#include "mindtorch/reference_device/driver.h"

namespace mindtorch::reference_device {

class ApiCall {
 public:
  // A call that waits for the device does not block collect(). If the set changes while it waits, it gets no record.
  enum class Length { kShort, kWaits };

  ApiCall(Driver& driver, const char* name, Length length = Length::kShort) noexcept;
  ~ApiCall();
  ApiCall(const ApiCall&) = delete;
  ApiCall& operator=(const ApiCall&) = delete;

  bool collects(ActivityKind kind) const noexcept { return (set_.kinds & kind) != 0; }
  // Queues `task` as the work of this call, of kind `kind`, with `record` (a DeviceActivity) if that kind is collected.
  template <class DeviceRecord>
  Result submit(Stream& stream, Task task, ActivityKind kind, DeviceRecord record);
  Result finish(Result result) noexcept { return result_ = result; }
  std::uint64_t correlation() const noexcept { return correlation_; }

 private:
  Driver& driver_;
  const char* const name_;
  const Length length_;
  Collector::Set set_;
  std::uint64_t start_ = 0;
  std::uint64_t correlation_ = 0;
  Result result_ = Result::kSuccess;
};

template <class DeviceRecord>
Result ApiCall::submit(Stream& stream, Task task, ActivityKind kind, DeviceRecord record) {
  const std::uint64_t correlation = driver_.next_correlation();
  task.kind = kind;
  task.correlation = correlation;
  task.launched_by = current_thread_id();
  if (collects(kind)) {
    record.kind = kind;
    record.bytes = sizeof record;
    record.device = static_cast<std::uint32_t>(stream.device().index());
    record.stream = static_cast<std::uint32_t>(stream.id());
    record.correlation = correlation;
    task.record = record;
  }
  result_ = stream.enqueue(std::move(task));
  if (result_ == Result::kSuccess) correlation_ = correlation;
  return result_;
}

}  // namespace mindtorch::reference_device
