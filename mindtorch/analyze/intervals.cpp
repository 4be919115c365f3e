// Intervals: sweeps over sorted lists.
#include "mindtorch/analyze/intervals.h"

#include <algorithm>

namespace mindtorch::analyze {

Intervals Intervals::united() const {
  std::vector<Interval> sorted = all_;
  std::ranges::sort(sorted, {}, &Interval::start);
  Intervals result;
  for (const Interval& next : sorted) {
    if (!result.all_.empty() && next.start <= result.all_.back().end) {
      result.all_.back().end = std::max(result.all_.back().end, next.end);
    } else {
      result.all_.push_back(next);
    }
  }
  return result;
}

Intervals Intervals::without(const Intervals& other) const {
  Intervals result;
  std::size_t at = 0;
  for (const Interval& interval : all_) {
    std::int64_t start = interval.start;
    while (at < other.all_.size() && other.all_[at].end <= start) ++at;
    // The last interval of the other set may reach into the next one of this set, so it is looked at again.
    for (std::size_t k = at; k < other.all_.size() && other.all_[k].start < interval.end; ++k) {
      result.add(start, other.all_[k].start);
      start = std::max(start, other.all_[k].end);
    }
    result.add(start, interval.end);
  }
  return result;
}

std::int64_t Intervals::covered_ns(std::int64_t start, std::int64_t end) const {
  auto at = std::ranges::upper_bound(all_, start, {}, &Interval::end);
  std::int64_t covered = 0;
  for (; at != all_.end() && at->start < end; ++at) covered += std::min(at->end, end) - std::max(at->start, start);
  return covered;
}

std::int64_t Intervals::covered_ns() const {
  std::int64_t covered = 0;
  for (const Interval& interval : all_) covered += interval.end - interval.start;
  return covered;
}

}  // namespace mindtorch::analyze
