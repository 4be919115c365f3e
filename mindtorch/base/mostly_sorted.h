// Sorting what was written down about in order.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace mindtorch {

// Sorts rows by key(row), in linear time if few of them come late: only these are sorted, and then merged with the others. Equal keys end
// up in any order.
template <class T, class Key = std::identity>
void sort_mostly_sorted(std::span<T> rows, Key key = {}) {
  if (std::ranges::is_sorted(rows, {}, key)) return;
  std::vector<T> in_order, late;
  in_order.reserve(rows.size());
  for (const T& row : rows) {
    const bool is_late = !in_order.empty() && std::invoke(key, row) < std::invoke(key, in_order.back());
    (is_late ? late : in_order).push_back(row);
  }
  std::ranges::sort(late, {}, key);
  std::ranges::merge(in_order, late, rows.begin(), {}, key, key);
}

}  // namespace mindtorch
