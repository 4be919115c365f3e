// The median of a few numbers.
#pragma once

#include <algorithm>
#include <vector>

namespace mindtorch::analyze {

// Reorders the values. Of an even number of them, the lower of the two in the middle, so that the result is one of the values. 0 of none.
template <class T>
T median_of(std::vector<T>& values) {
  if (values.empty()) return T{};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace mindtorch::analyze
