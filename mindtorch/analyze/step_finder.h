// StepFinder: the step that is open at a moment.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace mindtorch::analyze {

// `Step` has a start_ns and a duration_ns. The steps are in order of time and must stay where they are.
template <class Step>
class StepFinder {
 public:
  explicit StepFinder(std::span<const Step> steps) : steps_(steps) {}

  // The index of the last step that started by then, if it has not ended; otherwise -1. O(1) if that is the step that was found last, which
  // holds for most events of a thread, and otherwise O(log steps).
  std::int64_t at(std::int64_t time_ns) {
    const bool is_here =
        started_ > 0 && steps_[started_ - 1].start_ns <= time_ns && (started_ == steps_.size() || time_ns < steps_[started_].start_ns);
    if (!is_here) started_ = static_cast<std::size_t>(std::ranges::upper_bound(steps_, time_ns, {}, &Step::start_ns) - steps_.begin());
    if (started_ == 0) return -1;
    const Step& step = steps_[started_ - 1];
    return time_ns < step.start_ns + step.duration_ns ? static_cast<std::int64_t>(started_) - 1 : -1;
  }

 private:
  std::span<const Step> steps_;
  std::size_t started_ = 0;  // how many steps had started at the moment that was asked for last
};

}  // namespace mindtorch::analyze
