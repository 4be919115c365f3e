// Kernels of reductions over any dimensions.
#include "mindtorch/runtime/kernels/cpu/reduction.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "mindtorch/runtime/kernels/cpu/reduce.h"

namespace mindtorch::cpu {

namespace {

constexpr std::int64_t kLanes = 32;
constexpr std::int64_t kRun = 2048;

template <class T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, double, std::uint64_t>;

// Sums of f(x). Floating point is added in lanes of its own type over short runs and in double over the runs, so that the error does not
// grow with the length.
template <class T, class Value, class F>
Wide<Value> sum_row(const T* values, std::int64_t n, const F& f) {
  using Lane = std::conditional_t<std::is_floating_point_v<Value>, Value, Wide<Value>>;
  Wide<Value> total = 0;
  vectorized([&] {
    for (std::int64_t begin = 0; begin < n; begin += kRun) {
      const std::int64_t end = std::min(n, begin + kRun);
      Lane lanes[kLanes] = {};
      std::int64_t i = begin;
      for (; i + kLanes <= end; i += kLanes)
        for (std::int64_t l = 0; l < kLanes; ++l) lanes[l] += static_cast<Lane>(f(values[i + l]));
      for (; i < end; ++i) total += static_cast<Wide<Value>>(f(values[i]));
      for (std::int64_t l = 0; l < kLanes; ++l) total += static_cast<Wide<Value>>(lanes[l]);
    }
  });
  return total;
}

template <class T>
struct Sum {
  using In = T;
  using Out = T;
  using Acc = Wide<T>;
  double scale;

  Acc identity() const { return 0; }
  Acc combine(Acc a, Acc b) const { return a + b; }
  Acc step(Acc acc, T x) const { return acc + static_cast<Acc>(x); }
  Acc row(const T* values, std::int64_t n) const {
    return sum_row<T, T>(values, n, [](T x) { return x; });
  }
  Out finish(Acc acc) const {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<Out>(acc * scale);
    else
      return static_cast<Out>(acc);
  }
};

template <class T>
struct Prod {
  using In = T;
  using Out = T;
  using Acc = Wide<T>;

  Acc identity() const { return 1; }
  Acc combine(Acc a, Acc b) const { return a * b; }
  Acc step(Acc acc, T x) const { return acc * static_cast<Acc>(x); }
  Acc row(const T* values, std::int64_t n) const {
    Acc acc = 1;
    for (std::int64_t i = 0; i < n; ++i) acc *= static_cast<Acc>(values[i]);
    return acc;
  }
  Out finish(Acc acc) const { return static_cast<Out>(acc); }
};

// The largest or smallest; a NaN wins against everything.
template <class T, bool largest>
struct Extremum {
  using In = T;
  using Out = T;
  using Acc = T;

  static T better(T a, T b) {
    const bool first = largest ? a >= b : a <= b;
    if constexpr (std::is_floating_point_v<T>)
      return first || a != a ? a : b;
    else
      return first ? a : b;
  }
  Acc identity() const {
    if constexpr (std::is_floating_point_v<T>)
      return largest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
    else
      return largest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
  }
  Acc combine(Acc a, Acc b) const { return better(a, b); }
  Acc step(Acc acc, T x) const { return better(acc, x); }
  Acc row(const T* values, std::int64_t n) const {
    T result = identity();
    vectorized([&] {
      T lanes[kLanes];
      std::fill(lanes, lanes + kLanes, identity());
      std::int64_t i = 0;
      for (; i + kLanes <= n; i += kLanes)
        for (std::int64_t l = 0; l < kLanes; ++l) lanes[l] = better(lanes[l], values[i + l]);
      for (; i < n; ++i) result = better(result, values[i]);
      for (std::int64_t l = 0; l < kLanes; ++l) result = better(result, lanes[l]);
    });
    return result;
  }
  Out finish(Acc acc) const { return acc; }
};

template <class T, bool is_any>
struct Truth {
  using In = T;
  using Out = bool;
  using Acc = bool;

  Acc identity() const { return !is_any; }
  Acc combine(Acc a, Acc b) const { return is_any ? a || b : a && b; }
  Acc step(Acc acc, T x) const { return combine(acc, x != T{0}); }
  Acc row(const T* values, std::int64_t n) const {
    for (std::int64_t i = 0; i < n; ++i)
      if ((values[i] != T{0}) == is_any) return is_any;
    return !is_any;
  }
  Out finish(Acc acc) const { return acc; }
};

// Norms that are sums: lift(x) is added, finish(sum) ends it.
template <class T, class Lift, class Finish>
struct SumNorm {
  using In = T;
  using Out = T;
  using Acc = double;
  Lift lift;
  Finish end;

  Acc identity() const { return 0; }
  Acc combine(Acc a, Acc b) const { return a + b; }
  Acc step(Acc acc, T x) const { return acc + static_cast<double>(lift(x)); }
  Acc row(const T* values, std::int64_t n) const { return sum_row<T, T>(values, n, lift); }
  Out finish(Acc acc) const { return static_cast<Out>(end(acc)); }
};

template <class T, class Lift, class Finish>
void sum_norm(const ReducePlan& plan, Lift lift, Finish finish) {
  reduce(plan, SumNorm<T, Lift, Finish>{lift, finish});
}

template <class T, bool largest>
struct MagnitudeExtremum : Extremum<T, largest> {
  T step(T acc, T x) const { return Extremum<T, largest>::better(acc, std::abs(x)); }
  T row(const T* values, std::int64_t n) const {
    T acc = this->identity();
    for (std::int64_t i = 0; i < n; ++i) acc = step(acc, values[i]);
    return acc;
  }
};

// Mean and sum of squared distances from it, joined pairwise, so that large means do not cancel the variance away.
struct Moments {
  double mean = 0, squares = 0;
  std::int64_t n = 0;
};
template <class T>
struct Variance {
  using In = T;
  using Out = T;
  using Acc = Moments;
  double correction;
  bool square_root;

  Acc identity() const { return {}; }
  Acc combine(Acc a, Acc b) const {
    if (a.n == 0) return b;
    if (b.n == 0) return a;
    const std::int64_t n = a.n + b.n;
    const double distance = b.mean - a.mean, share = static_cast<double>(b.n) / static_cast<double>(n);
    return {a.mean + distance * share, a.squares + b.squares + distance * distance * static_cast<double>(a.n) * share, n};
  }
  Acc step(Acc acc, T x) const {
    ++acc.n;
    const double distance = static_cast<double>(x) - acc.mean;
    acc.mean += distance / static_cast<double>(acc.n);
    acc.squares += distance * (static_cast<double>(x) - acc.mean);
    return acc;
  }
  Acc row(const T* values, std::int64_t n) const {
    Acc total;
    for (std::int64_t begin = 0; begin < n; begin += kRun) {
      const std::int64_t count = std::min(n - begin, kRun);
      const double mean = sum_row<T, T>(values + begin, count, [](T x) { return x; }) / static_cast<double>(count);
      const double squares =
          sum_row<T, T>(values + begin, count, [center = static_cast<T>(mean)](T x) { return (x - center) * (x - center); });
      const double shift = mean - static_cast<double>(static_cast<T>(mean));
      total = combine(total, {mean, squares - shift * shift * static_cast<double>(count), count});
    }
    return total;
  }
  Out finish(Acc acc) const {
    const double divisor = std::max(static_cast<double>(acc.n) - correction, 0.0);
    const double variance = acc.n == 0 ? std::numeric_limits<double>::quiet_NaN() : std::max(acc.squares, 0.0) / divisor;
    return static_cast<Out>(square_root ? std::sqrt(variance) : variance);
  }
};

}  // namespace

void sum(ScalarType type, const ReducePlan& plan, double scale) {
  visit_types(type, [&]<class T>() { reduce(plan, Sum<T>{scale}); });
}
void prod(ScalarType type, const ReducePlan& plan) {
  visit_types(type, [&]<class T>() { reduce(plan, Prod<T>{}); });
}
void amax(ScalarType type, const ReducePlan& plan) {
  visit_types(type, [&]<class T>() { reduce(plan, Extremum<T, true>{}); });
}
void amin(ScalarType type, const ReducePlan& plan) {
  visit_types(type, [&]<class T>() { reduce(plan, Extremum<T, false>{}); });
}
void any(ScalarType type, const ReducePlan& plan) {
  visit_types(type, [&]<class T>() { reduce(plan, Truth<T, true>{}); });
}
void all(ScalarType type, const ReducePlan& plan) {
  visit_types(type, [&]<class T>() { reduce(plan, Truth<T, false>{}); });
}

void norm(ScalarType type, const ReducePlan& plan, double p) {
  visit_floating_types(type, "aten::linalg_vector_norm", [&]<class T>() {
    const auto keep = [](double sum) { return sum; };
    if (p == 2)
      return sum_norm<T>(
          plan, [](T x) { return x * x; }, [](double sum) { return std::sqrt(sum); });
    if (p == 1)
      return sum_norm<T>(
          plan, [](T x) { return std::abs(x); }, keep);
    if (p == 0)
      return sum_norm<T>(
          plan, [](T x) { return x != T{0} ? T{1} : T{0}; }, keep);
    if (std::isinf(p)) return p > 0 ? reduce(plan, MagnitudeExtremum<T, true>{}) : reduce(plan, MagnitudeExtremum<T, false>{});
    sum_norm<T>(
        plan, [p](T x) { return static_cast<T>(std::pow(std::abs(static_cast<double>(x)), p)); },
        [p](double sum) { return std::pow(sum, 1 / p); });
  });
}

void variance(ScalarType type, const ReducePlan& plan, double correction, bool square_root) {
  visit_floating_types(type, "aten::var", [&]<class T>() { reduce(plan, Variance<T>{correction, square_root}); });
}

}  // namespace mindtorch::cpu
