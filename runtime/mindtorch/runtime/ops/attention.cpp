// Attention, made of other ops.
#include "mindtorch/runtime/ops/attention.h"

#include <cmath>
#include <limits>

#include "mindtorch/runtime/dispatch/library.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/ops/optional_tensor.h"
#include "mindtorch/runtime/pointwise.h"

namespace mindtorch {

namespace {

using MaybeTensor = const OptionalTensor&;
using TwoTensors = std::tuple<Tensor, Tensor>;

constinit Op<Tensor(const Tensor&, const Tensor&, const Tensor&, MaybeTensor, double, bool, std::optional<double>, bool)> attention_op{
    "aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool "
    "is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor"};
constinit Op<TwoTensors(const Tensor&, const Tensor&, const Tensor&, MaybeTensor, double, bool, MaybeTensor, std::optional<double>, bool)>
    attention_math_op{
        "aten::_scaled_dot_product_attention_math(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, "
        "bool "
        "is_causal=False, Tensor? dropout_mask=None, *, float? scale=None, bool enable_gqa=False) -> (Tensor, Tensor)"};

constexpr const char* kAttention = "aten::scaled_dot_product_attention";
constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

void check_attention(const Tensor& query, const Tensor& key, const Tensor& value, MaybeTensor mask, double dropout_p, bool is_causal,
                     bool enable_gqa) {
  if (query.dtype() != key.dtype() || query.dtype() != value.dtype())
    throw_error(kAttention,
                "Expected query, key, and value to have the same dtype, but got query.dtype: {} key.dtype: {} and value.dtype: {} instead.",
                dtype_name(query.dtype()), dtype_name(key.dtype()), dtype_name(value.dtype()));
  common_device({&query, &key, &value}, kAttention);
  if (query.dim() < 2 || key.dim() < 2 || value.dim() < 2)
    throw_error(
        kAttention,
        "Expected query, key, and value to all be at least 2 dimensional, but got query.dim: {}, key.dim: {} and value.dim: {} instead.",
        query.dim(), key.dim(), value.dim());
  if (query.size(-1) != key.size(-1) || key.size(-2) != value.size(-2))
    throw_error(kAttention, "query {}, key {} and value {} do not fit together", to_string(query.sizes()), to_string(key.sizes()),
                to_string(value.sizes()));
  if (dropout_p < 0 || dropout_p > 1) throw_error(kAttention, "dropout probability has to be between 0 and 1, but got {}", dropout_p);
  if (enable_gqa && (query.dim() < 3 || query.size(-3) % key.size(-3) != 0 || query.size(-3) % value.size(-3) != 0))
    throw_error(kAttention, "Number of heads in key and value must divide the number of heads in query, got {}, {} and {}",
                to_string(key.sizes()), to_string(value.sizes()), to_string(query.sizes()));
  if (!is_defined(mask)) return;
  if (is_causal) throw_error(kAttention, "Explicit attn_mask should not be set when is_causal=True");
  if (mask->dtype() != kBool && mask->dtype() != query.dtype())
    throw_error(kAttention,
                "Expected attn_mask dtype to be bool or to match query dtype, but got attn_mask.dtype: {} and query.dtype: {} instead.",
                dtype_name(mask->dtype()), dtype_name(query.dtype()));
}

// The mask that is added to the scores so that query i does not use keys after i.
Tensor causal_bias(const Tensor& query, const Tensor& key) {
  return triu(full({query.size(-2), key.size(-2)}, kMinusInfinity, query.options()), 1);
}

// The values that a mask adds to the scores.
Tensor bias_of(const Tensor& mask, const Tensor& query) {
  return mask.dtype() == kBool ? zeros(mask.sizes(), query.options()).masked_fill_(mask.logical_not(), kMinusInfinity) : mask;
}

// Each head `times` times in a row: several heads of the query share it.
Tensor repeat_heads(const Tensor& heads, std::int64_t times) {
  if (times == 1) return heads;
  DimVector expanded(heads.sizes()), sizes(heads.sizes());
  expanded.insert(expanded.size() - 2, times);
  sizes[sizes.size() - 3] *= times;
  return heads.unsqueeze(-3).expand(expanded).reshape(sizes);
}

TwoTensors attention_math_composite(const Tensor& query, const Tensor& given_key, const Tensor& given_value, MaybeTensor mask,
                                    double dropout_p, bool is_causal, MaybeTensor dropout_mask, std::optional<double> scale,
                                    bool enable_gqa) {
  check_attention(query, given_key, given_value, mask, dropout_p, is_causal, enable_gqa);
  const auto shared = [&](const Tensor& heads) { return enable_gqa ? repeat_heads(heads, query.size(-3) / heads.size(-3)) : heads; };
  const Tensor key = shared(given_key), value = shared(given_value);
  const Tensor scores = matmul(query * scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1)))), key.transpose(-2, -1));
  Tensor weights = safe_softmax(is_defined(mask) ? scores + bias_of(*mask, query)
                                : is_causal      ? scores.add_(causal_bias(query, key))
                                                 : scores,
                                -1);
  if (is_defined(dropout_mask))
    weights = weights.masked_fill(dropout_mask->logical_not(), 0) * (1 / (1 - dropout_p));
  else if (dropout_p > 0)
    weights = dropout(weights, dropout_p, true);
  return {matmul(weights, value), weights};
}

Tensor attention_composite(const Tensor& query, const Tensor& key, const Tensor& value, MaybeTensor mask, double dropout_p, bool is_causal,
                           std::optional<double> scale, bool enable_gqa) {
  return std::get<0>(attention_math_op(query, key, value, mask, dropout_p, is_causal, std::nullopt, scale, enable_gqa));
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value, const AttentionOptions& options) {
  return attention_op(query, key, value, defined_or_none(options.attn_mask), options.dropout_p, options.is_causal, options.scale, false);
}

void register_attention_ops(Library& library) {
  library.define<attention_op>().composite<attention_composite>();
  library.define<attention_math_op>().composite<attention_math_composite>();
}

}  // namespace mindtorch
