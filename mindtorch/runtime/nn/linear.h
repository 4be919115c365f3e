// Modules with one matrix: Linear and Embedding.
#pragma once

#include "mindtorch/base/export.h"
#include "mindtorch/runtime/nn/module.h"

namespace mindtorch::nn {

// x weight^T + bias over the last dimension.
class MINDTORCH_EXPORT Linear : public Module {
 public:
  Linear(std::int64_t in_features, std::int64_t out_features, bool with_bias = true, const TensorOptions& options = {});
  Tensor forward(const Tensor& input) override;
  void reset_parameters();

  Tensor weight;  // [out_features, in_features]
  Tensor bias;    // [out_features], or undefined
};

// A table of vectors, looked up by integers.
struct EmbeddingOptions {
  std::optional<std::int64_t> padding_idx = std::nullopt;  // starts as zeros and is not trained; negative counts from the end
  bool scale_grad_by_freq = false;
};
class MINDTORCH_EXPORT Embedding : public Module {
 public:
  Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, const EmbeddingOptions& embedding = {},
            const TensorOptions& options = {});
  Tensor forward(const Tensor& indices) override;
  void reset_parameters();

  Tensor weight;  // [num_embeddings, embedding_dim]

 private:
  std::int64_t padding_idx_ = -1;
  bool scale_grad_by_freq_;
};

}  // namespace mindtorch::nn
