// Statistics of a few numbers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace mindtorch {

// What stands for the middle of an even number of values.
enum class EvenMedian {
  kMean,   // the mean of the two in the middle
  kLower,  // the lower of the two, so that the result is one of the values
};

// The middle value; 0 of no values.
template <class T>
T median_of(std::vector<T> values, EvenMedian even = EvenMedian::kMean) {
  if (values.empty()) return T{};
  const auto lower = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, lower);
  if (values.size() % 2 == 1 || even == EvenMedian::kLower) return *lower;
  return std::midpoint(*lower, *std::ranges::min_element(lower + 1, values.end()));
}

}  // namespace mindtorch
