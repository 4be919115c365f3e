// Kernels of reductions.
#include "mindtorch/runtime/kernels/cpu/reduction.h"

#include <type_traits>

#include "mindtorch/runtime/kernels/cpu/reduce.h"

namespace mindtorch::cpu {

namespace {

// Floating point is added in float lanes over short runs and in double over the runs, so that the error does not grow with the length.
template <class T>
struct Sum {
  using In = T;
  using Out = T;
  using Acc = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;
  double scale;

  Acc identity() const { return 0; }
  Acc combine(Acc a, Acc b) const { return a + b; }
  Acc step(Acc acc, T value) const { return acc + static_cast<Acc>(value); }
  Out finish(Acc acc) const {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<Out>(acc * scale);
    else
      return static_cast<Out>(acc);
  }
  Acc row(const T* values, std::int64_t n) const {
    constexpr std::int64_t kLanes = 32, kRun = 2048;
    Acc total = 0;
    vectorized([&] {
      for (std::int64_t begin = 0; begin < n; begin += kRun) {
        const std::int64_t end = std::min(n, begin + kRun);
        using Lane = std::conditional_t<std::is_floating_point_v<T>, T, Acc>;
        Lane lanes[kLanes] = {};
        std::int64_t i = begin;
        for (; i + kLanes <= end; i += kLanes)
          for (std::int64_t l = 0; l < kLanes; ++l) lanes[l] += static_cast<Lane>(values[i + l]);
        for (; i < end; ++i) total += static_cast<Acc>(values[i]);
        for (std::int64_t l = 0; l < kLanes; ++l) total += static_cast<Acc>(lanes[l]);
      }
    });
    return total;
  }
};

}  // namespace

void sum(ScalarType type, const ReducePlan& plan, double scale) {
  visit_types(type, [&]<class T>() { reduce(plan, Sum<T>{scale}); });
}

}  // namespace mindtorch::cpu
