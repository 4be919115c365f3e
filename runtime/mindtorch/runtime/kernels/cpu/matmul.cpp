// Kernels of matrix products: BLAS for floating point, plain loops for integers.
#include "mindtorch/runtime/kernels/cpu/matmul.h"

#include <cblas.h>

#include <algorithm>

#include "mindtorch/runtime/kernels/cpu/vectorize.h"
#include "mindtorch/runtime/parallel.h"

namespace mindtorch::cpu {

namespace {

struct BlasMatrix {
  CBLAS_TRANSPOSE transposed;
  blasint leading;
};

// BLAS wants rows contiguous, or columns ("transposed"); the other stride is the leading dimension.
BlasMatrix blas_layout(const Matrix& m) {
  const bool by_rows = m.column_stride == 1 || m.columns == 1;
  if (by_rows && (m.row_stride >= m.columns || m.rows == 1))
    return {CblasNoTrans, static_cast<blasint>(std::max<std::int64_t>({m.rows == 1 ? m.columns : m.row_stride, m.columns, 1}))};
  return {CblasTrans, static_cast<blasint>(std::max<std::int64_t>({m.columns == 1 ? m.rows : m.column_stride, m.rows, 1}))};
}

void scale(ScalarType type, const Matrix& out, const Scalar& beta) {
  visit_types(type, [&]<class T>() {
    const T factor = beta.to<T>();
    for (std::int64_t r = 0; r < out.rows; ++r) {
      T* row = static_cast<T*>(out.data) + r * out.row_stride;
      for (std::int64_t c = 0; c < out.columns; ++c) row[c] = factor == T{0} ? T{0} : static_cast<T>(row[c] * factor);
    }
  });
}

template <class T>
void blas_gemm(const Matrix& out, const Matrix& a, const Matrix& b, double alpha, double beta) {
  const BlasMatrix la = blas_layout(a), lb = blas_layout(b);
  const auto m = static_cast<blasint>(out.rows), n = static_cast<blasint>(out.columns), k = static_cast<blasint>(a.columns);
  const auto ldc = static_cast<blasint>(std::max<std::int64_t>({out.rows == 1 ? out.columns : out.row_stride, out.columns, 1}));
  if constexpr (std::is_same_v<T, float>)
    cblas_sgemm(CblasRowMajor, la.transposed, lb.transposed, m, n, k, static_cast<float>(alpha), static_cast<const float*>(a.data),
                la.leading, static_cast<const float*>(b.data), lb.leading, static_cast<float>(beta), static_cast<float*>(out.data), ldc);
  else
    cblas_dgemm(CblasRowMajor, la.transposed, lb.transposed, m, n, k, alpha, static_cast<const double*>(a.data), la.leading,
                static_cast<const double*>(b.data), lb.leading, beta, static_cast<double*>(out.data), ldc);
}

template <class T>
void integer_gemm(const Matrix& out, const Matrix& a, const Matrix& b, T alpha, T beta) {
  using Wide = std::uint64_t;  // wraps around without undefined behaviour
  parallel_for(0, out.rows, kParallelGrain / std::max<std::int64_t>(1, a.columns * out.columns) + 1,
               [&](std::int64_t from, std::int64_t to) {
                 for (std::int64_t r = from; r < to; ++r)
                   for (std::int64_t c = 0; c < out.columns; ++c) {
                     Wide sum = 0;
                     for (std::int64_t i = 0; i < a.columns; ++i)
                       sum += static_cast<Wide>(static_cast<const T*>(a.data)[r * a.row_stride + i * a.column_stride]) *
                              static_cast<Wide>(static_cast<const T*>(b.data)[i * b.row_stride + c * b.column_stride]);
                     T& cell = static_cast<T*>(out.data)[r * out.row_stride + c];
                     cell = static_cast<T>(static_cast<Wide>(alpha) * sum +
                                           (beta == T{0} ? Wide{0} : static_cast<Wide>(beta) * static_cast<Wide>(cell)));
                   }
               });
}

}  // namespace

void gemm(ScalarType type, const Matrix& out, const Matrix& a, const Matrix& b, const Scalar& alpha, const Scalar& beta) {
  if (out.rows == 0 || out.columns == 0) return;
  if (a.columns == 0) return scale(type, out, beta);
  visit_types(type, [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>)
      blas_gemm<T>(out, a, b, alpha.to_double(), beta.to_double());
    else
      integer_gemm<T>(out, a, b, alpha.to<T>(), beta.to<T>());
  });
}

void batched_gemm(ScalarType type, std::int64_t count, const BatchStrides& strides, const Matrix& out, const Matrix& a, const Matrix& b,
                  const Scalar& alpha, const Scalar& beta) {
  const auto element = static_cast<std::int64_t>(element_size(type));
  const auto at = [element](const Matrix& m, std::int64_t offset) {
    Matrix moved = m;
    if (m.data != nullptr) moved.data = static_cast<char*>(m.data) + offset * element;  // a matrix without elements has no memory
    return moved;
  };
  // Products below this size BLAS computes on one thread: share them out. Larger ones are left to its own threads.
  constexpr std::int64_t kBlasSerial = 64 * 64 * 64;
  const std::int64_t work = out.rows * out.columns * a.columns;
  const std::int64_t grain = work > kBlasSerial ? count : kParallelGrain / std::max<std::int64_t>(work, 1) + 1;
  parallel_for(0, count, grain, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t i = from; i < to; ++i) gemm(type, at(out, i * strides.out), at(a, i * strides.a), at(b, i * strides.b), alpha, beta);
  });
}

}  // namespace mindtorch::cpu
