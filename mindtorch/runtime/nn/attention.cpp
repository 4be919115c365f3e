// Attention and the transformer's encoder layer.
#include "mindtorch/runtime/nn/attention.h"

#include <cmath>
#include <limits>

#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/nn/init.h"

namespace mindtorch::nn {

namespace {

// The values that a mask adds to scores of type `type`.
Tensor as_bias(const Tensor& mask, ScalarType type) {
  if (mask.dtype() != kBool) return mask.to(type);
  return zeros(mask.sizes(), {.dtype = type, .device = mask.device()}).masked_fill_(mask, -std::numeric_limits<double>::infinity());
}

}  // namespace

MultiheadAttention::MultiheadAttention(std::int64_t embed_dim, std::int64_t num_heads, const MultiheadAttentionOptions& attention,
                                       const TensorOptions& options)
    : in_proj_weight(register_parameter("in_proj_weight", empty({3 * embed_dim, embed_dim}, options))),
      in_proj_bias(register_parameter("in_proj_bias", attention.bias ? zeros({3 * embed_dim}, options) : Tensor())),
      out_proj(embed_dim, embed_dim, attention.bias, options),
      num_heads_(num_heads),
      attention_(attention) {
  if (num_heads <= 0 || embed_dim <= 0 || embed_dim % num_heads != 0)
    throw_error<InvalidArgument>("nn.MultiheadAttention", "embed_dim ({}) must be divisible by num_heads ({})", embed_dim, num_heads);
  register_module("out_proj", out_proj);
  init::xavier_uniform_(in_proj_weight);
  if (attention.bias) init::zeros_(out_proj.bias);
}

Tensor MultiheadAttention::split_heads(const Tensor& projected) const {
  return projected.reshape({projected.size(0), projected.size(1), num_heads_, -1}).transpose(1, 2);
}

// Uses one product for all three projections if the inputs are the same.
TensorVector MultiheadAttention::project(const Tensor& query, const Tensor& key, const Tensor& value) const {
  if (query.is_same(key) && key.is_same(value)) return chunk(linear(query, in_proj_weight, in_proj_bias), 3, -1);
  const TensorVector weights = chunk(in_proj_weight, 3, 0);
  const TensorVector biases = in_proj_bias.defined() ? chunk(in_proj_bias, 3, 0) : TensorVector(3);
  return {linear(query, weights[0], biases[0]), linear(key, weights[1], biases[1]), linear(value, weights[2], biases[2])};
}

// Both masks together, broadcast to [batch, heads, queries, keys]; undefined without masks.
Tensor MultiheadAttention::score_bias(const AttentionCall& how, const Tensor& query, const Tensor& key) const {
  Tensor bias;
  if (how.attn_mask.defined()) {
    bias = as_bias(how.attn_mask, query.dtype());
    if (bias.dim() == 3) bias = bias.reshape({query.size(0), num_heads_, query.size(1), key.size(1)});
  } else if (how.is_causal && (how.need_weights || how.key_padding_mask.defined())) {
    bias = triu(full({query.size(1), key.size(1)}, -std::numeric_limits<double>::infinity(), query.options()), 1);
  }
  if (!how.key_padding_mask.defined()) return bias;
  const Tensor padding = as_bias(how.key_padding_mask, query.dtype()).reshape({query.size(0), 1, 1, key.size(1)});
  return bias.defined() ? bias + padding : padding;
}

MultiheadAttention::Result MultiheadAttention::operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                                                          const AttentionCall& how) {
  return call({query, key, value}, [&](const TensorVector& inputs) { return forward(inputs[0], inputs[1], inputs[2], how); });
}

MultiheadAttention::Result MultiheadAttention::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                                       const AttentionCall& how) {
  if (query.dim() != 3 || key.dim() != 3 || value.dim() != 3)
    throw_error("nn.MultiheadAttention", "query, key and value must have three dimensions, got {}, {} and {}", to_string(query.sizes()),
                to_string(key.sizes()), to_string(value.sizes()));
  const auto by_batch = [&](const Tensor& tensor) { return attention_.batch_first ? tensor : tensor.transpose(0, 1); };
  const Tensor q = by_batch(query), k = key.is_same(query) ? q : by_batch(key), v = value.is_same(key) ? k : by_batch(value);
  const Tensor bias = score_bias(how, q, k);
  const TensorVector projected = project(q, k, v);
  const Tensor queries = split_heads(projected[0]), keys = split_heads(projected[1]), values = split_heads(projected[2]);
  const double drop = is_training() ? attention_.dropout : 0;
  Tensor heads, weights;
  if (how.need_weights) {
    Tensor scores = matmul(queries * (1 / std::sqrt(static_cast<double>(queries.size(-1)))), keys.transpose(-2, -1));
    weights = softmax(bias.defined() ? scores + bias : scores, -1);
    if (drop > 0) weights = mindtorch::dropout(weights, drop, true);
    heads = matmul(weights, values);
    if (how.average_attn_weights) weights = weights.mean({1});
  } else {
    heads = scaled_dot_product_attention(queries, keys, values,
                                         {.attn_mask = bias, .dropout_p = drop, .is_causal = how.is_causal && !bias.defined()});
  }
  const Tensor joined = heads.transpose(1, 2).reshape({q.size(0), q.size(1), q.size(2)});
  return {by_batch(out_proj(joined)), weights};
}

TransformerEncoderLayer::TransformerEncoderLayer(std::int64_t d_model, std::int64_t nhead, const TransformerEncoderLayerOptions& layer,
                                                 const TensorOptions& options)
    : self_attn(d_model, nhead, {.dropout = layer.dropout, .batch_first = layer.batch_first}, options),
      linear1(d_model, layer.dim_feedforward, true, options),
      dropout(layer.dropout),
      linear2(layer.dim_feedforward, d_model, true, options),
      norm1(d_model, {.eps = layer.layer_norm_eps}, options),
      norm2(d_model, {.eps = layer.layer_norm_eps}, options),
      dropout1(layer.dropout),
      dropout2(layer.dropout),
      norm_first_(layer.norm_first),
      use_gelu_(layer.use_gelu) {
  register_module("self_attn", self_attn);
  register_module("linear1", linear1);
  register_module("dropout", dropout);
  register_module("linear2", linear2);
  register_module("norm1", norm1);
  register_module("norm2", norm2);
  register_module("dropout1", dropout1);
  register_module("dropout2", dropout2);
}

Tensor TransformerEncoderLayer::attend(const Tensor& x, const AttentionCall& how) {
  AttentionCall without_weights = how;
  without_weights.need_weights = false;
  return dropout1(std::get<0>(self_attn(x, x, x, without_weights)));
}

Tensor TransformerEncoderLayer::feed_forward(const Tensor& x) {
  const Tensor hidden = linear1(x);
  return dropout2(linear2(dropout(use_gelu_ ? gelu(hidden) : relu(hidden))));
}

Tensor TransformerEncoderLayer::operator()(const Tensor& src, const AttentionCall& how) {
  return call({src}, [&](const TensorVector& inputs) { return forward(inputs[0], how); });
}

Tensor TransformerEncoderLayer::forward(const Tensor& src, const AttentionCall& how) {
  if (norm_first_) {
    const Tensor x = src + attend(norm1(src), how);
    return x + feed_forward(norm2(x));
  }
  const Tensor x = norm1(src + attend(src, how));
  return norm2(x + feed_forward(x));
}

}  // namespace mindtorch::nn
