// ReducePlan: how to iterate over a tensor of which some dimensions are kept and some are reduced. Both groups are sorted and merged as in
// a LoopPlan.
#pragma once

#include <cstdint>

#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

struct ReducePlan {
  struct Dim {
    std::int64_t size;
    std::int64_t in;   // bytes
    std::int64_t out;  // bytes; 0 for reduced dimensions
  };
  int kept_dims = 0, reduced_dims = 0;             // at least 1 each once made
  std::int64_t kept_count = 1, reduced_count = 1;  // elements
  Dim kept[kMaxDims], reduced[kMaxDims];           // innermost first
  const char* in = nullptr;
  char* out = nullptr;

  void map_addresses(const AddressMap& map) {
    in = map(in);
    out = map(out);
  }
};

// `out` has a dimension of size 1 wherever `self` is reduced.
ReducePlan make_reduce_plan(const Tensor& out, const Tensor& self);

// Bit d is set if dimension d is reduced. No dims means all. Throws for duplicates and for dimensions that do not exist.
std::uint32_t reduced_dims_mask(std::optional<IntArrayRef> dims, std::int64_t count, std::string_view op);
// Sizes of the result, with reduced dimensions of size 1 or without them.
DimVector reduced_sizes(IntArrayRef sizes, std::uint32_t mask, bool keepdim);

}  // namespace mindtorch
