// Kernels of table look-up.
#include "mindtorch/runtime/kernels/cpu/embedding.h"

#include <cstring>
#include <vector>

#include "mindtorch/runtime/kernels/cpu/vectorize.h"
#include "mindtorch/runtime/parallel.h"

namespace mindtorch::cpu {

namespace {

template <class F>
void visit_index_types(ScalarType type, const F& f) {
  if (type == kInt32)
    f.template operator()<std::int32_t>();
  else
    f.template operator()<std::int64_t>();
}

template <class Index>
void check_indices(const EmbeddingShape& shape, const Index* indices, const char* op) {
  for (std::int64_t i = 0; i < shape.count; ++i)
    if (indices[i] < 0 || indices[i] >= shape.rows)
      throw_error<OutOfRange>(op, "index out of range in self: index {} at position {} of a table with {} rows", indices[i], i, shape.rows);
}

}  // namespace

void embedding(const EmbeddingShape& shape, void* out, const void* table, const void* indices) {
  const auto row_bytes = static_cast<std::size_t>(shape.width) * element_size(shape.type);
  visit_index_types(shape.index_type, [&]<class Index>() {
    const auto* rows = static_cast<const Index*>(indices);
    check_indices(shape, rows, "aten::embedding");
    if (row_bytes == 0) return;
    parallel_for(0, shape.count, kParallelGrain / shape.width + 1, [&](std::int64_t from, std::int64_t to) {
      for (std::int64_t i = from; i < to; ++i)
        std::memcpy(static_cast<char*>(out) + static_cast<std::size_t>(i) * row_bytes,
                    static_cast<const char*>(table) + static_cast<std::size_t>(rows[i]) * row_bytes, row_bytes);
    });
  });
}

void embedding_backward(const EmbeddingShape& shape, void* grad_table, const void* grad, const void* indices, std::int64_t padding_index,
                        bool by_frequency) {
  visit_index_types(shape.index_type, [&]<class Index>() {
    const auto* rows = static_cast<const Index*>(indices);
    check_indices(shape, rows, "aten::embedding_dense_backward");
    std::vector<std::int64_t> occurrences(by_frequency ? static_cast<std::size_t>(shape.rows) : 0);
    if (by_frequency)
      for (std::int64_t i = 0; i < shape.count; ++i) ++occurrences[static_cast<std::size_t>(rows[i])];
    visit_floating_types(shape.type, "aten::embedding_dense_backward", [&]<class T>() {
      // Threads share the columns, not the rows: two of them never add to one element.
      parallel_for(0, shape.width, kParallelGrain / (shape.count + 1) + 1, [&](std::int64_t from, std::int64_t to) {
        vectorized([&] {
          for (std::int64_t i = 0; i < shape.count; ++i) {
            if (rows[i] == padding_index) continue;
            const T scale = by_frequency ? T{1} / static_cast<T>(occurrences[static_cast<std::size_t>(rows[i])]) : T{1};
            T* to_row = static_cast<T*>(grad_table) + rows[i] * shape.width;
            const T* from_row = static_cast<const T*>(grad) + i * shape.width;
            MINDTORCH_INDEPENDENT_ITERATIONS
            for (std::int64_t c = from; c < to; ++c) to_row[c] += scale * from_row[c];
          }
        });
      });
    });
  });
}

}  // namespace mindtorch::cpu
