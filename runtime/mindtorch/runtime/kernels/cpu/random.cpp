// Kernels that fill contiguous memory with random numbers.
#include "mindtorch/runtime/kernels/cpu/random.h"

#include <cmath>
#include <numbers>
#include <numeric>

#include "mindtorch/runtime/parallel.h"

namespace mindtorch::cpu {

namespace {

// Calls f(i, a, b) with two 64-bit random numbers for elements i and i + 1 (which may be n).
template <class F>
void each_pair(std::int64_t n, const PhiloxState& state, const F& f) {
  parallel_for(0, (n + 1) / 2, kParallelGrain / 16, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t pair = from; pair < to; ++pair) {
      const std::array<std::uint32_t, 4> r = philox(state, static_cast<std::uint64_t>(pair));
      f(2 * pair, static_cast<std::uint64_t>(r[0]) << 32 | r[1], static_cast<std::uint64_t>(r[2]) << 32 | r[3]);
    }
  });
}

// out[i] = g(random 64 bits)
template <class T, class G>
void fill_each(T* out, std::int64_t n, const PhiloxState& state, const G& g) {
  each_pair(n, state, [&](std::int64_t i, std::uint64_t a, std::uint64_t b) {
    out[i] = g(a);
    if (i + 1 < n) out[i + 1] = g(b);
  });
}

// [0, 1), with as many bits as the type holds.
template <class T>
T unit(std::uint64_t bits) {
  if constexpr (sizeof(T) == 4)
    return static_cast<T>(bits >> 40) * T{0x1p-24};
  else
    return static_cast<T>(bits >> 11) * T{0x1p-53};
}

}  // namespace

void uniform(ScalarType type, void* out, std::int64_t n, const PhiloxState& state, double from, double to) {
  visit_floating_types(type, "aten::uniform_", [&]<class T>() {
    const T low = static_cast<T>(from), width = static_cast<T>(to - from);
    fill_each(static_cast<T*>(out), n, state, [=](std::uint64_t bits) { return low + width * unit<T>(bits); });
  });
}

// Box-Muller: two uniform numbers make two normal ones.
void normal(ScalarType type, void* out, std::int64_t n, const PhiloxState& state, double mean, double deviation) {
  visit_floating_types(type, "aten::normal_", [&]<class T>() {
    T* values = static_cast<T*>(out);
    const T center = static_cast<T>(mean), scale = static_cast<T>(deviation);
    each_pair(n, state, [=](std::int64_t i, std::uint64_t a, std::uint64_t b) {
      const T radius = std::sqrt(T{-2} * std::log(T{1} - unit<T>(a))), angle = static_cast<T>(2 * std::numbers::pi) * unit<T>(b);
      values[i] = center + scale * (radius * std::cos(angle));
      if (i + 1 < n) values[i + 1] = center + scale * (radius * std::sin(angle));
    });
  });
}

void random_integers(ScalarType type, void* out, std::int64_t n, const PhiloxState& state, std::int64_t from, std::int64_t to) {
  const auto width = static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
  visit_types(type, [&]<class T>() {
    fill_each(static_cast<T*>(out), n, state, [=](std::uint64_t bits) {
      return static_cast<T>(static_cast<std::int64_t>(static_cast<std::uint64_t>(from) + bits % width));
    });
  });
}

void bernoulli(ScalarType type, void* out, std::int64_t n, const PhiloxState& state, double p) {
  visit_types(type, [&]<class T>() {
    fill_each(static_cast<T*>(out), n, state, [=](std::uint64_t bits) { return static_cast<T>(unit<double>(bits) < p); });
  });
}

void permutation(std::int64_t* out, std::int64_t n, const PhiloxState& state) {
  std::iota(out, out + n, 0);
  for (std::int64_t i = n - 1; i > 0; --i) {
    const std::array<std::uint32_t, 4> r = philox(state, static_cast<std::uint64_t>(i / 2));
    const std::uint64_t bits = i % 2 == 0 ? static_cast<std::uint64_t>(r[0]) << 32 | r[1] : static_cast<std::uint64_t>(r[2]) << 32 | r[3];
    std::swap(out[i], out[bits % static_cast<std::uint64_t>(i + 1)]);
  }
}

}  // namespace mindtorch::cpu
