// Busy: marks a call that may run the user's callbacks, so that a call from inside a callback is refused.
#pragma once

#include <string_view>

#include "mindtorch/base/error.h"

namespace mindtorch::profiler {

class Busy {
 public:
  // Throws Error if `flag` is set already.
  Busy(bool& flag, std::string_view where) : flag_(flag) {
    if (flag_) throw_error(where, "called from inside a callback of the same profile");
    flag_ = true;
  }
  ~Busy() { flag_ = false; }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

 private:
  bool& flag_;
};

}  // namespace mindtorch::profiler
