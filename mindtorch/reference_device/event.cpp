// Positions on streams.
#include "mindtorch/reference_device/event.h"

#include <utility>

namespace mindtorch::reference_device {

void RecordedPlace::reach(std::uint64_t ticks) {
  {
    std::lock_guard lock(mutex_);
    is_reached_ = true;
    ticks_ = ticks;
  }
  reached_.notify_all();
}

bool RecordedPlace::is_reached() const {
  std::lock_guard lock(mutex_);
  return is_reached_;
}

void RecordedPlace::wait() const {
  std::unique_lock lock(mutex_);
  reached_.wait(lock, [this] { return is_reached_; });
}

std::uint64_t RecordedPlace::ticks() const {
  std::lock_guard lock(mutex_);
  return ticks_;
}

std::shared_ptr<RecordedPlace> Event::last_place() const {
  std::lock_guard lock(mutex_);
  return last_;
}

void Event::move_to(std::shared_ptr<RecordedPlace> place) {
  std::lock_guard lock(mutex_);
  last_ = std::move(place);
}

}  // namespace mindtorch::reference_device
