// An event: a place on a stream that others can ask about and wait for.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "mindtorch/reference_device/device.h"

namespace mindtorch::reference_device {

// One place where an event was recorded. The stream that gets there and those who wait share it; the event may be gone by then.
class RecordedPlace {
 public:
  RecordedPlace(int device, double ticks_per_ns) : device_(device), ticks_per_ns_(ticks_per_ns) {}

  int device() const noexcept { return device_; }
  double ticks_per_ns() const noexcept { return ticks_per_ns_; }
  void reach(std::uint64_t ticks);
  bool is_reached() const;
  void wait() const;
  std::uint64_t ticks() const;  // of the device's clock; only once reached

 private:
  const int device_;
  const double ticks_per_ns_;
  mutable std::mutex mutex_;
  mutable std::condition_variable reached_;
  bool is_reached_ = false;
  std::uint64_t ticks_ = 0;
};

class Event {
 public:
  // Null if the event was never recorded.
  std::shared_ptr<RecordedPlace> last_place() const;
  void move_to(std::shared_ptr<RecordedPlace> place);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<RecordedPlace> last_;
};

}  // namespace mindtorch::reference_device
