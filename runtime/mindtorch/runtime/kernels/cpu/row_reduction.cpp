// Kernels that go along one dimension and keep positions: extrema with their index, running sums, the k largest.
#include <algorithm>
#include <numeric>
#include <vector>

#include "mindtorch/runtime/kernels/cpu/reduction.h"
#include "mindtorch/runtime/parallel.h"

namespace mindtorch::cpu {

namespace {

// Calls f(first element, row) for each row.
template <class F>
void each_row(const Rows& rows, const F& f) {
  parallel_for(0, rows.count, kParallelGrain / std::max<std::int64_t>(rows.n, 1) + 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t r = from; r < to; ++r) f(r / rows.inner * rows.n * rows.inner + r % rows.inner, r);
  });
}

template <class T>
bool goes_before(T a, T b, bool largest) {
  if (a != a) return b == b;
  return largest ? a > b : a < b;
}

template <class T>
std::int64_t best_position(const T* row, std::int64_t n, std::int64_t stride, bool largest) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < n; ++i)
    if (goes_before(row[i * stride], row[best * stride], largest)) best = i;
  return best;
}

}  // namespace

void extremum(ScalarType type, const void* in, void* values, std::int64_t* indices, const Rows& rows, bool largest) {
  visit_types(type, [&]<class T>() {
    each_row(rows, [&](std::int64_t first, std::int64_t r) {
      const T* row = static_cast<const T*>(in) + first;
      indices[r] = best_position(row, rows.n, rows.inner, largest);
      static_cast<T*>(values)[r] = row[indices[r] * rows.inner];
    });
  });
}

void arg_extremum(ScalarType type, const void* in, std::int64_t* indices, const Rows& rows, bool largest) {
  visit_types(type, [&]<class T>() {
    each_row(rows, [&](std::int64_t first, std::int64_t r) {
      indices[r] = best_position(static_cast<const T*>(in) + first, rows.n, rows.inner, largest);
    });
  });
}

void cumsum(ScalarType type, const void* in, void* out, const Rows& rows) {
  visit_types(type, [&]<class T>() {
    using Acc = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;
    each_row(rows, [&](std::int64_t first, std::int64_t) {
      Acc total = 0;
      for (std::int64_t i = 0; i < rows.n; ++i) {
        total += static_cast<Acc>(static_cast<const T*>(in)[first + i * rows.inner]);
        static_cast<T*>(out)[first + i * rows.inner] = static_cast<T>(total);
      }
    });
  });
}

void topk(ScalarType type, const void* in, void* values, std::int64_t* indices, const Rows& rows, std::int64_t k, bool largest) {
  visit_types(type, [&]<class T>() {
    each_row(rows, [&](std::int64_t first, std::int64_t r) {
      const T* row = static_cast<const T*>(in) + first;
      std::vector<std::int64_t> order(static_cast<std::size_t>(rows.n));
      std::iota(order.begin(), order.end(), 0);
      const auto is_less = [](T x, T y) { return x == x && (y != y || x < y); };  // NaN, which differs from itself, is the largest
      std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](std::int64_t a, std::int64_t b) {
        const T x = row[(largest ? b : a) * rows.inner], y = row[(largest ? a : b) * rows.inner];
        return is_less(x, y) || (!is_less(y, x) && a < b);
      });
      const std::int64_t out = r / rows.inner * k * rows.inner + r % rows.inner;
      for (std::int64_t i = 0; i < k; ++i) {
        indices[out + i * rows.inner] = order[static_cast<std::size_t>(i)];
        static_cast<T*>(values)[out + i * rows.inner] = row[order[static_cast<std::size_t>(i)] * rows.inner];
      }
    });
  });
}

}  // namespace mindtorch::cpu
