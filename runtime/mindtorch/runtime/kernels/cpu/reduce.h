// The walk of a reduction. A Reducer says what is done to the elements:
//   using In, Acc, Out;
//   Acc identity() const;              Acc combine(Acc, Acc) const;        Out finish(Acc) const;
//   Acc step(Acc, In) const;           one more element
//   Acc row(const In*, n) const;       n contiguous elements, vectorised
// Results do not depend on the number of threads: work is cut into parts of fixed size.
#pragma once

#include <algorithm>
#include <vector>

#include "mindtorch/runtime/kernels/cpu/vectorize.h"
#include "mindtorch/runtime/parallel.h"
#include "mindtorch/runtime/reduce_plan.h"

namespace mindtorch::cpu {

// Byte offset of element `index` of a group of dimensions.
inline std::int64_t reduce_offset(const ReducePlan::Dim* dims, int count, std::int64_t index, std::int64_t ReducePlan::Dim::*stride) {
  std::int64_t offset = 0;
  for (int d = 0; d < count; ++d) {
    offset += index % dims[d].size * dims[d].*stride;
    index /= dims[d].size;
  }
  return offset;
}

// All reduced elements with indices [from, to) of one kept element, which starts at `base`.
template <class Reducer>
typename Reducer::Acc reduce_range(const ReducePlan& plan, const Reducer& reducer, const char* base, std::int64_t from, std::int64_t to) {
  using In = typename Reducer::In;
  typename Reducer::Acc acc = reducer.identity();
  const ReducePlan::Dim& inner = plan.reduced[0];
  while (from < to) {
    const std::int64_t start = from % inner.size, n = std::min(inner.size - start, to - from);
    const char* at = base + reduce_offset(plan.reduced, plan.reduced_dims, from, &ReducePlan::Dim::in);
    if (inner.in == sizeof(In)) {
      acc = reducer.combine(acc, reducer.row(reinterpret_cast<const In*>(at), n));
    } else {
      for (std::int64_t i = 0; i < n; ++i) acc = reducer.step(acc, *reinterpret_cast<const In*>(at + i * inner.in));
    }
    from += n;
  }
  return acc;
}

// Columns [from, to) of the innermost kept dimension, which is contiguous, all at once: rows are added to a block of accumulators.
template <class Reducer>
void reduce_columns(const ReducePlan& plan, const Reducer& reducer, const char* in, char* out, std::int64_t from, std::int64_t to) {
  using In = typename Reducer::In;
  using Acc = typename Reducer::Acc;
  constexpr std::int64_t kBlock = 256;
  Acc acc[kBlock];
  for (std::int64_t block = from; block < to; block += kBlock) {
    const std::int64_t n = std::min(kBlock, to - block);
    std::fill(acc, acc + n, reducer.identity());
    for (std::int64_t r = 0; r < plan.reduced_count; ++r) {
      const char* row = in + reduce_offset(plan.reduced, plan.reduced_dims, r, &ReducePlan::Dim::in);
      const In* values = reinterpret_cast<const In*>(row) + block;
      vectorized([&] {
        MINDTORCH_INDEPENDENT_ITERATIONS
        for (std::int64_t i = 0; i < n; ++i) acc[i] = reducer.step(acc[i], values[i]);
      });
    }
    for (std::int64_t i = 0; i < n; ++i)
      *reinterpret_cast<typename Reducer::Out*>(out + (block + i) * plan.kept[0].out) = reducer.finish(acc[i]);
  }
}

template <class Reducer>
void reduce(const ReducePlan& plan, const Reducer& reducer) {
  using Out = typename Reducer::Out;
  constexpr std::int64_t kPart = 65536;
  if (plan.kept_count == 0) return;
  if (plan.kept_count == 1 && plan.reduced_count > kPart) {
    const std::int64_t parts = (plan.reduced_count + kPart - 1) / kPart;
    std::vector<typename Reducer::Acc> partial(parts);
    parallel_for(0, parts, 1, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t p = from; p < to; ++p)
        partial[p] = reduce_range(plan, reducer, plan.in, p * kPart, std::min(plan.reduced_count, (p + 1) * kPart));
    });
    typename Reducer::Acc acc = partial[0];
    for (std::int64_t p = 1; p < parts; ++p) acc = reducer.combine(acc, partial[p]);
    *reinterpret_cast<Out*>(plan.out) = reducer.finish(acc);
    return;
  }
  const std::int64_t grain = kParallelGrain / std::max<std::int64_t>(plan.reduced_count, 1) + 1;
  const bool empty = plan.reduced_count == 0;  // then there is no memory at plan.in
  const bool by_columns = !empty && plan.kept[0].in == sizeof(typename Reducer::In) && plan.kept[0].size > 1 &&
                          plan.reduced[0].in != sizeof(typename Reducer::In);
  if (by_columns) {
    const std::int64_t width = plan.kept[0].size, rows = plan.kept_count / width;
    for (std::int64_t row = 0; row < rows; ++row) {
      const char* in = plan.in + reduce_offset(plan.kept + 1, plan.kept_dims - 1, row, &ReducePlan::Dim::in);
      char* out = plan.out + reduce_offset(plan.kept + 1, plan.kept_dims - 1, row, &ReducePlan::Dim::out);
      parallel_for(0, width, grain, [&](std::int64_t from, std::int64_t to) { reduce_columns(plan, reducer, in, out, from, to); });
    }
    return;
  }
  parallel_for(0, plan.kept_count, grain, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t k = from; k < to; ++k) {
      const char* in = empty ? plan.in : plan.in + reduce_offset(plan.kept, plan.kept_dims, k, &ReducePlan::Dim::in);
      char* out = plan.out + reduce_offset(plan.kept, plan.kept_dims, k, &ReducePlan::Dim::out);
      *reinterpret_cast<Out*>(out) = reducer.finish(reduce_range(plan, reducer, in, 0, plan.reduced_count));
    }
  });
}

}  // namespace mindtorch::cpu
