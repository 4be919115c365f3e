// Kernels of table look-up.
#pragma once

#include <cstdint>

#include "mindtorch/runtime/device.h"
#include "mindtorch/runtime/scalar_type.h"

namespace mindtorch::cpu {

// A table of `rows` rows of `width` elements of type `type`, and `count` row numbers of type `index_type` (int32 or int64).
struct EmbeddingShape {
  ScalarType type, index_type;
  std::int64_t rows, width, count;
  void map_addresses(const AddressMap&) {}
};

// out[i] = table[indices[i]]. Throws OutOfRange if there is no such row; nothing has been written then.
void embedding(const EmbeddingShape& shape, void* out, const void* table, const void* indices);

// grad_table[indices[i]] += grad[i], into a table of zeros; rows of `padding_index` are left alone. With `by_frequency` the gradient of a
// row is divided by the number of its occurrences. Deterministic: rows are added in the order of the indices.
void embedding_backward(const EmbeddingShape& shape, void* grad_table, const void* grad, const void* indices, std::int64_t padding_index,
                        bool by_frequency);

}  // namespace mindtorch::cpu
