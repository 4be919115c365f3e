// Intervals: sweeps over sorted lists.
#include "mindtorch/analyze/intervals.h"

#include <algorithm>

namespace mindtorch::analyze {
namespace {

using List = std::vector<Intervals::Interval>;

bool starts_earlier(const Intervals::Interval& a, const Intervals::Interval& b) { return a.start < b.start; }

// Sets are filled track by track, and each track is in order: the list consists of few sorted runs, which are merged.
void sort_by_start(List& list) {
  constexpr std::size_t kFewRuns = 16;
  std::vector<List::iterator> ends;  // of the runs
  for (auto at = list.begin(); at != list.end() && ends.size() <= kFewRuns;) {
    at = std::is_sorted_until(at, list.end(), starts_earlier);
    ends.push_back(at);
  }
  if (ends.size() > kFewRuns) {
    std::sort(list.begin(), list.end(), starts_earlier);
    return;
  }
  for (std::size_t run = 1; run < ends.size(); ++run) std::inplace_merge(list.begin(), ends[run - 1], ends[run], starts_earlier);
}

}  // namespace

Intervals Intervals::united() const {
  List sorted = all_;
  sort_by_start(sorted);
  Intervals result;
  result.all_.reserve(sorted.size());
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
