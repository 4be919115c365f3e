// Making reduce plans.
#include "mindtorch/runtime/reduce_plan.h"

#include <algorithm>
#include <cstdlib>

#include "mindtorch/runtime/geometry.h"

namespace mindtorch {

namespace {

void sort_and_merge(ReducePlan::Dim* dims, int& count) {
  std::stable_sort(dims, dims + count, [](const auto& a, const auto& b) { return std::abs(a.in) < std::abs(b.in); });
  int last = 0;
  for (int d = 1; d < count; ++d) {
    if (dims[d].in == dims[last].in * dims[last].size && dims[d].out == dims[last].out * dims[last].size)
      dims[last].size *= dims[d].size;
    else
      dims[++last] = dims[d];
  }
  if (count == 0) dims[0] = {1, 0, 0};
  count = last + 1;
}

}  // namespace

ReducePlan make_reduce_plan(const Tensor& out, const Tensor& self) {
  ReducePlan plan;
  plan.in = static_cast<const char*>(self.data_ptr());
  plan.out = static_cast<char*>(out.data_ptr());
  const auto in_element = static_cast<std::int64_t>(self.element_size()), out_element = static_cast<std::int64_t>(out.element_size());
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    const std::int64_t size = self.sizes()[d];
    if (size == 1) continue;
    const ReducePlan::Dim dim{size, self.strides()[d] * in_element, out.strides()[d] * out_element};
    if (out.sizes()[d] == size) {
      plan.kept[plan.kept_dims++] = dim;
      plan.kept_count *= size;
    } else {
      plan.reduced[plan.reduced_dims++] = {dim.size, dim.in, 0};
      plan.reduced_count *= size;
    }
  }
  sort_and_merge(plan.kept, plan.kept_dims);
  sort_and_merge(plan.reduced, plan.reduced_dims);
  return plan;
}

std::uint32_t reduced_dims_mask(std::optional<IntArrayRef> dims, std::int64_t count, std::string_view op) {
  if (!dims || dims->empty()) return count == 0 ? 0 : (1u << count) - 1;
  std::uint32_t mask = 0;
  for (const std::int64_t dim : *dims) {
    const std::uint32_t bit = 1u << wrap_dim(dim, count, op);
    if ((mask & bit) != 0) throw_error(op, "dim {} appears multiple times in the list of dims", dim);
    mask |= bit;
  }
  return mask;
}

DimVector reduced_sizes(IntArrayRef sizes, std::uint32_t mask, bool keepdim) {
  DimVector result;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if ((mask >> d & 1) == 0)
      result.push_back(sizes[d]);
    else if (keepdim)
      result.push_back(1);
  }
  return result;
}

}  // namespace mindtorch
