// Modules with one matrix.
#include "mindtorch/runtime/nn/linear.h"

#include <cmath>

#include "mindtorch/runtime/autograd/grad_mode.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/nn/init.h"

namespace mindtorch::nn {

Linear::Linear(std::int64_t in_features, std::int64_t out_features, bool with_bias, const TensorOptions& options)
    : weight(register_parameter("weight", empty({out_features, in_features}, options))),
      bias(register_parameter("bias", with_bias ? empty({out_features}, options) : Tensor())) {
  reset_parameters();
}

void Linear::reset_parameters() {
  init::kaiming_uniform_(weight, std::sqrt(5.0));
  const std::int64_t fan_in = weight.size(1);
  const double bound = fan_in > 0 ? 1 / std::sqrt(static_cast<double>(fan_in)) : 0;
  if (bias.defined()) init::uniform_(bias, -bound, bound);
}

Tensor Linear::forward(const Tensor& input) { return linear(input, weight, bias); }

Embedding::Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, const EmbeddingOptions& embedding,
                     const TensorOptions& options)
    : weight(register_parameter("weight", empty({num_embeddings, embedding_dim}, options))),
      scale_grad_by_freq_(embedding.scale_grad_by_freq) {
  if (embedding.padding_idx) {
    const std::int64_t row = *embedding.padding_idx;
    if (row >= num_embeddings || row < -num_embeddings)
      throw_error<InvalidArgument>("nn.Embedding", "Padding_idx must be within num_embeddings ({}), got {}", num_embeddings, row);
    padding_idx_ = row < 0 ? row + num_embeddings : row;
  }
  reset_parameters();
}

void Embedding::reset_parameters() {
  init::normal_(weight);
  if (padding_idx_ < 0) return;
  NoGradGuard no_grad;
  weight.select(0, padding_idx_).fill_(0);
}

Tensor Embedding::forward(const Tensor& indices) { return embedding(weight, indices, padding_idx_, scale_grad_by_freq_); }

}  // namespace mindtorch::nn
