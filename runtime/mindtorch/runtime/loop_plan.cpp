// Making loop plans.
#include "mindtorch/runtime/loop_plan.h"

namespace mindtorch {

namespace {

// Sorts dimensions by the strides of the operands, smallest first. The first operand counts most.
template <std::size_t N>
void sort_dims(LoopPlan<N>& plan) {
  const auto should_swap = [&](int inner, int outer) {
    for (std::size_t i = 0; i < N; ++i) {
      const std::int64_t a = plan.strides[inner][i], b = plan.strides[outer][i];
      if (a == 0 || b == 0 || a == b) continue;
      return a > b;
    }
    return false;
  };
  for (int i = 1; i < plan.dims; ++i)
    for (int j = i; j > 0 && should_swap(j - 1, j); --j) {
      std::swap(plan.sizes[j - 1], plan.sizes[j]);
      std::swap(plan.strides[j - 1], plan.strides[j]);
    }
}

// Merges each dimension into the one inside it where all operands continue without a gap; drops dimensions of one element.
template <std::size_t N>
void merge_dims(LoopPlan<N>& plan) {
  int last = 0;
  for (int d = 1; d < plan.dims; ++d) {
    bool joins = plan.sizes[d] == 1 || plan.sizes[last] == 1;
    if (!joins) {
      joins = true;
      for (std::size_t i = 0; i < N; ++i) joins = joins && plan.strides[d][i] == plan.strides[last][i] * plan.sizes[last];
    }
    if (joins) {
      if (plan.sizes[last] == 1) plan.strides[last] = plan.strides[d];
      plan.sizes[last] *= plan.sizes[d];
    } else {
      ++last;
      plan.sizes[last] = plan.sizes[d];
      plan.strides[last] = plan.strides[d];
    }
  }
  plan.dims = last + 1;
}

}  // namespace

template <std::size_t N>
LoopPlan<N> make_loop_plan(IntArrayRef sizes, const std::array<LoopOperand, N>& operands) {
  LoopPlan<N> plan;
  plan.numel = 1;
  plan.dims = static_cast<std::int32_t>(sizes.size());
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    plan.sizes[d] = sizes[sizes.size() - 1 - d];
    plan.numel *= plan.sizes[d];
  }
  for (std::size_t i = 0; i < N; ++i) {
    plan.immediate[i] = operands[i].immediate;
    const Tensor* tensor = operands[i].tensor;
    plan.data[i] = tensor != nullptr ? static_cast<char*>(tensor->data_ptr()) : nullptr;
    for (std::size_t d = 0; d < sizes.size(); ++d) plan.strides[d][i] = 0;
    if (tensor == nullptr) continue;
    const IntArrayRef own_sizes = tensor->sizes(), own_strides = tensor->strides();
    const auto element = static_cast<std::int64_t>(tensor->element_size());
    for (std::size_t d = 0; d < own_sizes.size(); ++d) {
      const std::size_t own = own_sizes.size() - 1 - d;
      if (own_sizes[own] != 1) plan.strides[d][i] = own_strides[own] * element;
    }
  }
  if (plan.dims == 0) {
    plan.dims = 1;
    plan.sizes[0] = 1;
    plan.strides[0] = {};
  } else if (plan.dims > 1) {
    sort_dims(plan);
    merge_dims(plan);
  }
  return plan;
}

template LoopPlan<1> make_loop_plan<1>(IntArrayRef, const std::array<LoopOperand, 1>&);
template LoopPlan<2> make_loop_plan<2>(IntArrayRef, const std::array<LoopOperand, 2>&);
template LoopPlan<3> make_loop_plan<3>(IntArrayRef, const std::array<LoopOperand, 3>&);
template LoopPlan<4> make_loop_plan<4>(IntArrayRef, const std::array<LoopOperand, 4>&);

}  // namespace mindtorch
