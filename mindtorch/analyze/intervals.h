// Intervals: a set of times, as sorted intervals that can be united, subtracted and measured.
#pragma once

#include <cstdint>
#include <vector>

namespace mindtorch::analyze {

class Intervals {
 public:
  void add(std::int64_t start, std::int64_t end) {
    if (end > start) all_.push_back({start, end});
  }
  bool empty() const { return all_.empty(); }

  // Sorted, without overlaps. The functions below need both sides to be united. O(n log n).
  Intervals united() const;
  // The parts of this set that are not in the other. O(n + m).
  Intervals without(const Intervals& other) const;
  // How much of [start, end) the set covers. O(log n + intervals inside).
  std::int64_t covered_ns(std::int64_t start, std::int64_t end) const;
  // How much the whole set covers. O(n).
  std::int64_t covered_ns() const;

  struct Interval {
    std::int64_t start;
    std::int64_t end;
    friend bool operator==(const Interval&, const Interval&) = default;
  };
  const std::vector<Interval>& all() const { return all_; }

 private:
  std::vector<Interval> all_;
};

}  // namespace mindtorch::analyze
