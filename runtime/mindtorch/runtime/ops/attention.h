// Attention.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/tensor.h"

namespace mindtorch {

struct AttentionOptions {
  // Broadcast to [..., queries, keys]. In a bool mask, true includes a position; a floating point mask is added to the scores.
  Tensor attn_mask = {};
  double dropout_p = 0;
  bool is_causal = false;                      // query i uses keys 0 ... i; not together with attn_mask
  std::optional<double> scale = std::nullopt;  // 1 / sqrt(width) by default
};

// softmax(query key^T * scale) value. `query` is [..., queries, width], `key` [..., keys, width], `value` [..., keys, any].
MINDTORCH_EXPORT Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                                     const AttentionOptions& options = {});

}  // namespace mindtorch
