// Attention and the transformer's encoder layer.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/nn/activation.h"
#include "mindtorch/runtime/nn/linear.h"
#include "mindtorch/runtime/nn/normalization.h"

namespace mindtorch::nn {

struct MultiheadAttentionOptions {
  double dropout = 0;
  bool bias = true;
  bool batch_first = false;  // [batch, length, width] instead of [length, batch, width]
};

// The masks of one call. In a bool mask, true excludes a position; a floating point mask is added to the scores.
struct AttentionCall {
  Tensor key_padding_mask = {};  // [batch, keys]
  Tensor attn_mask = {};         // [queries, keys] or [batch * heads, queries, keys]
  bool need_weights = true;
  bool average_attn_weights = true;  // over the heads
  bool is_causal = false;            // a hint with attn_mask, as in torch; a mask without it
};

class MINDTORCH_EXPORT MultiheadAttention : public Module {
 public:
  MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads, const MultiheadAttentionOptions& attention = {},
                     const TensorOptions& options = {});

  // Output and weights; the weights are undefined unless needed.
  using Result = std::tuple<Tensor, Tensor>;
  Result operator()(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionCall& how = {});
  Result forward(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionCall& how);
  using Module::forward;

  Tensor in_proj_weight;  // [3 * embed_dim, embed_dim]
  Tensor in_proj_bias;    // [3 * embed_dim], or undefined
  Linear out_proj;

 private:
  // [batch, heads, length, width of a head]
  Tensor split_heads(const Tensor& projected) const;
  TensorVector project(const Tensor& query, const Tensor& key, const Tensor& value) const;
  Tensor score_bias(const AttentionCall& how, const Tensor& query, const Tensor& key) const;

  std::int64_t num_heads_;
  MultiheadAttentionOptions attention_;
};

struct TransformerEncoderLayerOptions {
  std::int64_t dim_feedforward = 2048;
  double dropout = 0.1;
  bool use_gelu = false;  // instead of relu
  double layer_norm_eps = 1e-5;
  bool batch_first = false;
  bool norm_first = false;
};

// Self-attention and two linear layers, each with a residual connection and a layer norm.
class MINDTORCH_EXPORT TransformerEncoderLayer : public Module {
 public:
  TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead, const TransformerEncoderLayerOptions& layer = {},
                          const TensorOptions& options = {});
  Tensor forward(const Tensor& src) override { return forward(src, {}); }
  Tensor forward(const Tensor& src, const AttentionCall& how);
  Tensor operator()(const Tensor& src, const AttentionCall& how = {});

  MultiheadAttention self_attn;
  Linear linear1;
  Dropout dropout;
  Linear linear2;
  LayerNorm norm1, norm2;
  Dropout dropout1, dropout2;

 private:
  Tensor attend(const Tensor& x, const AttentionCall& how);
  Tensor feed_forward(const Tensor& x);

  bool norm_first_, use_gelu_;
};

}  // namespace mindtorch::nn
