// Counting and failing.
#include "tests/doubles/calls.h"

namespace doubles {

std::int32_t Calls::begin(const char* function) {
  std::lock_guard lock(mutex_);
  ++counts_[function];
  ++counts_["*"];
  for (Failure& failure : failures_) {
    if (failure.function != "*" && failure.function != function) continue;
    if (failure.skip > 0) {
      --failure.skip;
      continue;
    }
    if (!failure.is_endless && failure.times == 0) continue;
    if (!failure.is_endless) --failure.times;
    last_failed_ = function;
    return failure.result;
  }
  return 0;
}

void Calls::fail(const char* function, std::int32_t result, std::uint32_t skip, std::uint32_t times) {
  std::lock_guard lock(mutex_);
  failures_.push_back({function, result, skip, times, times == 0});
}

std::uint64_t Calls::count(const std::string& function) const {
  std::lock_guard lock(mutex_);
  const auto known = counts_.find(function);
  return known == counts_.end() ? 0 : known->second;
}

std::string Calls::last_failed() const {
  std::lock_guard lock(mutex_);
  return last_failed_;
}

void Calls::reset() {
  std::lock_guard lock(mutex_);
  counts_.clear();
  failures_.clear();
  last_failed_.clear();
}

}  // namespace doubles
