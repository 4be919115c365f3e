// Busy: marks a call that may run the user's callbacks, so that a call from inside a callback is known as such.
#pragma once

#include <utility>

namespace mindtorch::profiler {

class Busy {
 public:
  explicit Busy(bool& flag) : flag_(flag), was_(std::exchange(flag, true)) {}
  ~Busy() { flag_ = was_; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  bool& flag_;
  const bool was_;
};

}  // namespace mindtorch::profiler
