// Kernels that fill contiguous memory with sequences.
#include "mindtorch/runtime/kernels/cpu/sequence.h"

#include <algorithm>

namespace mindtorch::cpu {

void arange(ScalarType type, void* out, std::int64_t n, const Scalar& start, const Scalar& step) {
  visit_types(type, [&]<class T>() {
    T* values = static_cast<T*>(out);
    if constexpr (std::is_floating_point_v<T>) {
      for (std::int64_t i = 0; i < n; ++i) values[i] = static_cast<T>(start.to_double() + static_cast<double>(i) * step.to_double());
    } else {
      for (std::int64_t i = 0; i < n; ++i) values[i] = static_cast<T>(start.to_int() + i * step.to_int());
    }
  });
}

void linspace(ScalarType type, void* out, std::int64_t n, double start, double end) {
  visit_types(type, [&]<class T>() {
    const double step = n > 1 ? (end - start) / static_cast<double>(n - 1) : 0;
    for (std::int64_t i = 0; i < n; ++i) {
      // From the nearer end, so that rounding is symmetric.
      const double value = i < n / 2 || n == 1 ? start + static_cast<double>(i) * step : end - static_cast<double>(n - 1 - i) * step;
      static_cast<T*>(out)[i] = static_cast<T>(value);
    }
  });
}

void eye(ScalarType type, void* out, std::int64_t rows, std::int64_t columns) {
  visit_types(type, [&]<class T>() {
    T* values = static_cast<T*>(out);
    std::fill(values, values + rows * columns, T{0});
    for (std::int64_t i = 0; i < std::min(rows, columns); ++i) values[i * columns + i] = T{1};
  });
}

}  // namespace mindtorch::cpu
