// Places on streams.
#include "mindtorch/reference_device/event.h"

#include <utility>

namespace mindtorch::reference_device {

void Place::reach(std::uint64_t ticks) {
  {
    std::lock_guard lock(mutex_);
    is_reached_ = true;
    ticks_ = ticks;
  }
  reached_.notify_all();
}

bool Place::is_reached() const {
  std::lock_guard lock(mutex_);
  return is_reached_;
}

void Place::wait() const {
  std::unique_lock lock(mutex_);
  reached_.wait(lock, [this] { return is_reached_; });
}

std::uint64_t Place::ticks() const {
  std::lock_guard lock(mutex_);
  return ticks_;
}

std::shared_ptr<Place> Event::last_place() const {
  std::lock_guard lock(mutex_);
  return last_;
}

void Event::move_to(std::shared_ptr<Place> place) {
  std::lock_guard lock(mutex_);
  last_ = std::move(place);
}

}  // namespace mindtorch::reference_device
