// What reductions share: making the output, and bringing a gradient back to the shape of the input.
#pragma once

#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"
#include "mindtorch/runtime/kernels/cpu/reduction.h"
#include "mindtorch/runtime/launch.h"
#include "mindtorch/runtime/reduce_plan.h"

namespace mindtorch {

using OptionalDims = std::optional<IntArrayRef>;
using OptionalType = std::optional<ScalarType>;

// Reduces `input` into a new tensor of `out_type`: launches kernel(input type, plan, args...).
template <class Kernel, class... Args>
Tensor reduce_tensor(const char* op, const Tensor& input, OptionalDims dims, bool keepdim, ScalarType out_type, Kernel kernel,
                     const Args&... args) {
  const std::uint32_t mask = reduced_dims_mask(dims, input.dim(), op);
  const Tensor out = new_tensor(reduced_sizes(input.sizes(), mask, true), out_type, input.device());
  launch(input.device(), op + 6, kernel, input.dtype(), make_reduce_plan(out, input), args...);  // without "aten::"
  return keepdim ? out : make_dense_view(out, reduced_sizes(input.sizes(), mask, false));
}

// Rows along `dim` of a contiguous tensor.
inline cpu::Rows rows_along(const Tensor& self, std::int64_t dim) {
  cpu::Rows rows{1, self.dim() == 0 ? 1 : self.sizes()[dim], 1};
  for (std::int64_t d = dim + 1; d < self.dim(); ++d) rows.inner *= self.sizes()[d];
  rows.count = rows.n == 0 ? 0 : self.numel() / rows.n;
  return rows;
}

// Which dimensions an op reduced.
struct ReducedShape {
  DimVector sizes;
  std::uint32_t mask;
  ReducedShape(const Tensor& self, OptionalDims dims, const char* op)
      : sizes(self.sizes()), mask(reduced_dims_mask(dims, self.dim(), op)) {}

  // A gradient or result of the op, with its reduced dimensions of size 1.
  Tensor keep_dims(const Tensor& reduced) const { return reduced.reshape(reduced_sizes(sizes, mask, true)); }
  Tensor expand(const Tensor& reduced) const { return keep_dims(reduced).expand(sizes); }
  DimVector dims() const {
    DimVector result;
    for (std::size_t d = 0; d < sizes.size(); ++d)
      if ((mask >> d & 1) != 0) result.push_back(static_cast<std::int64_t>(d));
    return result;
  }
  // Number of elements that became one.
  std::int64_t count() const {
    std::int64_t n = 1;
    for (const std::int64_t d : dims()) n *= sizes[d];
    return n;
  }
};

}  // namespace mindtorch
