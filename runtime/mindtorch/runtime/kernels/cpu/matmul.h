// Kernels of matrix products.
#pragma once

#include <cstdint>

#include "mindtorch/runtime/device.h"
#include "mindtorch/runtime/scalar.h"

namespace mindtorch::cpu {

// A matrix in memory; strides in elements.
struct Matrix {
  void* data;
  std::int64_t rows, columns;
  std::int64_t row_stride, column_stride;
  void map_addresses(const AddressMap& map) { data = map(data); }
};

// out = alpha * a b + beta * out. One stride of each matrix is 1 (or its dimension has one element); rows of `out` are contiguous.
// With beta 0 the old contents do not matter.
void gemm(ScalarType type, const Matrix& out, const Matrix& a, const Matrix& b, const Scalar& alpha, const Scalar& beta);

// The same for `count` products; batch strides in elements, one for each of out, a, b.
struct BatchStrides {
  std::int64_t out, a, b;
  void map_addresses(const AddressMap&) {}
};
void batched_gemm(ScalarType type, std::int64_t count, const BatchStrides& strides, const Matrix& out, const Matrix& a, const Matrix& b,
                  const Scalar& alpha, const Scalar& beta);

}  // namespace mindtorch::cpu
