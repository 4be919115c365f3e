// Kernels of dropout.
#include "mindtorch/runtime/kernels/cpu/dropout.h"

#include <algorithm>
#include <cmath>

#include "mindtorch/runtime/kernels/cpu/vectorize.h"
#include "mindtorch/runtime/parallel.h"

namespace mindtorch::cpu {

void dropout(ScalarType type, std::int64_t n, void* out, bool* mask, const void* in, double p, double scale, const PhiloxState& state) {
  // An element is dropped if its 32 random bits are below p * 2^32.
  const auto threshold = static_cast<std::uint64_t>(std::llround(p * 4294967296.0));
  parallel_for(0, (n + 3) / 4, kParallelGrain / 16, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t block = from; block < to; ++block) {
      const std::array<std::uint32_t, 4> bits = philox(state, static_cast<std::uint64_t>(block));
      const std::int64_t count = std::min<std::int64_t>(4, n - 4 * block);
      for (std::int64_t i = 0; i < count; ++i) mask[4 * block + i] = bits[static_cast<std::size_t>(i)] >= threshold;
    }
  });
  masked_scale(type, n, out, mask, in, scale);
}

void masked_scale(ScalarType type, std::int64_t n, void* out, const bool* mask, const void* in, double scale) {
  visit_floating_types(type, "aten::native_dropout", [&]<class T>() {
    parallel_for(0, n, kParallelGrain, [&](std::int64_t from, std::int64_t to) {
      vectorized([&, factor = static_cast<T>(scale), result = static_cast<T*>(out), values = static_cast<const T*>(in)] {
        MINDTORCH_INDEPENDENT_ITERATIONS
        for (std::int64_t i = from; i < to; ++i) result[i] = values[i] * (mask[i] ? factor : T{0});
      });
    });
  });
}

}  // namespace mindtorch::cpu
