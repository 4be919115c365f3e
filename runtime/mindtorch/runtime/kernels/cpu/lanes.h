// Reductions of short contiguous runs in a fixed number of independent lanes: an order of evaluation that the compiler can vectorise and
// that does not depend on the machine. Call them inside vectorized().
#pragma once

#include <algorithm>
#include <cstdint>

namespace mindtorch::cpu {

inline constexpr std::int64_t kLanes = 16;

// Lane 0 becomes the sum of the first 2 * width lanes, in halves.
template <std::int64_t width, class T>
inline void fold_lanes(T* lanes) {
  for (std::int64_t l = 0; l < width; ++l) lanes[l] += lanes[l + width];
  if constexpr (width > 1) fold_lanes<width / 2>(lanes);
}

// The sum of f(i) for 0 <= i < n.
template <class T, class F>
inline T lane_sum(std::int64_t n, const F& f) {
  T lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (std::int64_t l = 0; l < kLanes; ++l) lanes[l] += f(i + l);
  for (std::int64_t l = 0; i < n; ++i, ++l) lanes[l] += f(i);
  fold_lanes<kLanes / 2>(lanes);
  return lanes[0];
}

// The largest of values[0..n), n > 0. NaN is passed over unless it comes first.
template <class T>
inline T lane_max(const T* values, std::int64_t n) {
  T lanes[kLanes];
  for (std::int64_t l = 0; l < kLanes; ++l) lanes[l] = values[0];
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (std::int64_t l = 0; l < kLanes; ++l) lanes[l] = values[i + l] > lanes[l] ? values[i + l] : lanes[l];
  for (; i < n; ++i) lanes[0] = values[i] > lanes[0] ? values[i] : lanes[0];
  for (std::int64_t l = 1; l < kLanes; ++l) lanes[0] = lanes[l] > lanes[0] ? lanes[l] : lanes[0];
  return lanes[0];
}

}  // namespace mindtorch::cpu
