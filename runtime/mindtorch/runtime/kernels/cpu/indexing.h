// Kernels that read and write elements chosen by an index. Indices are int64; one that is out of range throws OutOfRange.
#pragma once

#include "mindtorch/runtime/loop_plan.h"

namespace mindtorch::cpu {

// One dimension of a contiguous tensor: `outer` x `size` x `inner` elements.
struct Axis {
  std::int64_t outer, size, inner;
  void map_addresses(const AddressMap&) {}
};

// out[o, k, i] = in[o, index[k], i] for k < count. `axis` is that of `in`.
void index_select(ScalarType type, void* out, const void* in, const std::int64_t* index, std::int64_t count, const Axis& axis);
// out[o, index[k], i] += alpha * source[o, k, i]. `axis` is that of `out`.
void index_add(ScalarType type, void* out, const void* source, const std::int64_t* index, std::int64_t count, const Axis& axis,
               const Scalar& alpha);

// The dimension an element index refers to: its size, and the distance in bytes between its elements in the indexed operand.
struct IndexedDim {
  std::int64_t size, stride;
  std::int64_t dim;  // named in the error
  void map_addresses(const AddressMap&) {}
};
// out = self[index]. Operands: out, index, self (which does not move along the indexed dimension).
void gather(ScalarType type, const LoopPlan<3>& plan, const IndexedDim& dim);
// self[index] = src, or += src. Operands: self (which does not move along the indexed dimension), index, src.
void scatter(ScalarType type, const LoopPlan<3>& plan, const IndexedDim& dim);
void scatter_add(ScalarType type, const LoopPlan<3>& plan, const IndexedDim& dim);

// Operands: offsets in bytes, index. An index of the dimension `dim`, which may count from the end, moves each offset; the first to do so
// replaces what is there. With offsets in place of an index, gather and scatter read and write by several indices at once.
void add_offsets(const LoopPlan<2>& plan, const IndexedDim& dim, bool is_first);

// How many of n elements are not zero.
void count_nonzero(ScalarType type, std::int64_t* count, const void* in, std::int64_t n);
// Sizes of a contiguous tensor.
struct Extents {
  std::int64_t dims, sizes[kMaxDims];
  void map_addresses(const AddressMap&) {}
};
// The position of each element that is not zero, as a row of `out`.
void nonzero(ScalarType type, std::int64_t* out, const void* in, const Extents& extents);

// Copies `count` matrices and sets what lies above (tril) or below (triu) the diagonal to zero.
void triangle(ScalarType type, void* out, const void* in, std::int64_t count, std::int64_t rows, std::int64_t columns,
              std::int64_t diagonal, bool lower);

}  // namespace mindtorch::cpu
