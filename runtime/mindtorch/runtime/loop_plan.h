// LoopPlan: how to iterate over N strided operands of one shape together. Dimensions are sorted so that the innermost one has the smallest
// strides, and merged where all operands allow it: contiguous operands of any shape become a single loop.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "mindtorch/runtime/parallel.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

template <std::size_t N>
struct LoopPlan {
  std::int32_t dims = 0;  // at least 1 once made
  std::int64_t numel = 0;
  std::int64_t sizes[kMaxDims];                   // innermost first
  std::array<std::int64_t, N> strides[kMaxDims];  // in bytes, for each dimension
  std::array<char*, N> data;                      // null: the value is in `immediate`
  std::array<std::uint64_t, N> immediate;         // a number's bits, in the operand's type

  void map_addresses(const AddressMap& map) {
    for (char*& each : data) each = map(each);
  }
  char* operand(std::size_t i) const {
    return data[i] != nullptr ? data[i] : reinterpret_cast<char*>(const_cast<std::uint64_t*>(&immediate[i]));
  }
};

// The geometry of one operand while a plan is made. A null tensor is a number.
struct LoopOperand {
  const Tensor* tensor = nullptr;
  std::uint64_t immediate = 0;
};

// Plans a loop over `sizes`; each operand must be expandable to it. The first operand is the one written to.
template <std::size_t N>
LoopPlan<N> make_loop_plan(IntArrayRef sizes, const std::array<LoopOperand, N>& operands);

// Calls loop(pointers, strides, n) for the innermost runs [from, to), one after the other.
template <std::size_t N, class Loop>
void walk_rows(const LoopPlan<N>& plan, std::int64_t from, std::int64_t to, const Loop& loop) {
  std::int64_t counter[kMaxDims];
  std::array<char*, N> at;
  for (std::size_t i = 0; i < N; ++i) at[i] = plan.operand(i);
  std::int64_t rest = from;
  for (int d = 1; d < plan.dims; ++d) {
    counter[d] = rest % plan.sizes[d];
    rest /= plan.sizes[d];
    for (std::size_t i = 0; i < N; ++i) at[i] += counter[d] * plan.strides[d][i];
  }
  for (std::int64_t row = from; row < to; ++row) {
    loop(at, plan.strides[0], plan.sizes[0]);
    for (int d = 1; d < plan.dims; ++d) {
      for (std::size_t i = 0; i < N; ++i) at[i] += plan.strides[d][i];
      if (++counter[d] < plan.sizes[d]) break;
      for (std::size_t i = 0; i < N; ++i) at[i] -= plan.sizes[d] * plan.strides[d][i];
      counter[d] = 0;
    }
  }
}

// Runs the whole loop on this thread. Loops whose elements depend on each other need it.
template <std::size_t N, class Loop>
void run_loop_serially(const LoopPlan<N>& plan, const Loop& loop) {
  if (plan.numel != 0) walk_rows(plan, 0, plan.numel / plan.sizes[0], loop);
}

// Runs the whole loop, in parallel if it is large enough.
template <std::size_t N, class Loop>
void run_loop(const LoopPlan<N>& plan, const Loop& loop) {
  if (plan.numel == 0) return;
  const std::int64_t inner = plan.sizes[0];
  if (plan.dims > 1) {
    return parallel_for(0, plan.numel / inner, kParallelGrain / inner + 1,
                        [&](std::int64_t from, std::int64_t to) { walk_rows(plan, from, to, loop); });
  }
  parallel_for(0, inner, kParallelGrain, [&](std::int64_t from, std::int64_t to) {
    std::array<char*, N> at;
    for (std::size_t i = 0; i < N; ++i) at[i] = plan.operand(i) + from * plan.strides[0][i];
    loop(at, plan.strides[0], to - from);
  });
}

}  // namespace mindtorch
