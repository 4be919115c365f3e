// Kernels that copy, convert and fill.
#include "mindtorch/runtime/kernels/cpu/copy.h"

#include <cmath>

#include "mindtorch/runtime/kernels/cpu/loops.h"

namespace mindtorch::cpu {

namespace {

template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<To, bool>)
    return value != From{0};
  else if constexpr (std::is_floating_point_v<From> && std::is_same_v<To, std::uint8_t>)
    return static_cast<To>(static_cast<std::int64_t>(value));  // negative values wrap around
  else
    return static_cast<To>(value);
}

// A transposed copy within one row of the output walks the input with a long stride: take square tiles instead, so that each cache line is
// used whole.
template <class T>
void copy_transposed(const LoopPlan<2>& plan) {
  constexpr std::int64_t kTile = 16;
  const std::int64_t columns = plan.sizes[0], rows = plan.sizes[1];
  const std::int64_t out_row = plan.strides[1][0], in_column = plan.strides[0][1];
  parallel_for(0, (rows + kTile - 1) / kTile, kParallelGrain / (kTile * columns) + 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t tile = from; tile < to; ++tile)
      for (std::int64_t c0 = 0; c0 < columns; c0 += kTile) {
        const std::int64_t r_end = std::min(rows, (tile + 1) * kTile), c_end = std::min(columns, c0 + kTile);
        for (std::int64_t r = tile * kTile; r < r_end; ++r) {
          T* out = reinterpret_cast<T*>(plan.data[0] + r * out_row);
          const char* in = plan.data[1] + r * static_cast<std::int64_t>(sizeof(T));
          for (std::int64_t c = c0; c < c_end; ++c) out[c] = *reinterpret_cast<const T*>(in + c * in_column);
        }
      }
  });
}

template <class T>
bool is_transposition(const LoopPlan<2>& plan) {
  return plan.dims == 2 && plan.strides[0][0] == sizeof(T) && plan.strides[1][1] == sizeof(T) && plan.sizes[0] >= 16 && plan.sizes[1] >= 16;
}

}  // namespace

void copy(ScalarType to, ScalarType from, const LoopPlan<2>& plan) {
  visit_types(to, [&]<class To>() {
    if (to == from) {
      if (is_transposition<To>(plan)) return copy_transposed<To>(plan);
      return map_unary<To, To>(plan, [](To value) { return value; });
    }
    visit_types(from, [&]<class From>() { map_unary<To, From>(plan, [](From value) { return converted<To>(value); }); });
  });
}

void fill(ScalarType type, const LoopPlan<1>& plan, const Scalar& value) {
  visit_types(type, [&]<class T>() { generate<T>(plan, [number = value.to<T>()] { return number; }); });
}

}  // namespace mindtorch::cpu
