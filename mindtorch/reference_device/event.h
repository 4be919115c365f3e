// An event: a position on a stream that can be queried and waited for.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "mindtorch/reference_device/device.h"

namespace mindtorch::reference_device {

// One recorded position of an event. The stream and waiting threads share it; the event may be destroyed before it is reached.
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
