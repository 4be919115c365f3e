// The ops of neural networks as cases for the gradient tests and for the contract of devices.
#pragma once

#include "runtime/tests/op_cases.h"

namespace mindtorch::testing {

inline std::vector<OpCase> nn_op_cases() {
  using V = const TensorVector&;
  const auto labels = [](const Tensor& like) { return indices({2, 0, 1, 2}, {4}, like); };
  return {
      {"gelu", [](V in) { return gelu(in[0]); }, {{2, 3}}},
      {"gelu_tanh", [](V in) { return gelu(in[0], "tanh"); }, {{2, 3}}},
      {"silu", [](V in) { return silu(in[0]) + silu_(in[0] * 2); }, {{2, 3}}},
      {"leaky_relu", [](V in) { return leaky_relu(in[0], 0.2) + leaky_relu_(in[0] * 2); }, {{2, 3}}},
      {"elu", [](V in) { return elu(in[0], 1.5) + elu_(in[0] * 2); }, {{2, 3}}},
      {"softplus", [](V in) { return softplus(in[0], 2); }, {{2, 3}}},
      {"log_sigmoid", [](V in) { return log_sigmoid(in[0]); }, {{2, 3}}},
      {"softmax", [](V in) { return softmax(in[0], 1) + softmax(in[0], 0); }, {{2, 3, 4}}},
      {"safe_softmax", [](V in) { return safe_softmax(in[0], -1); }, {{2, 3}}},
      {"log_softmax", [](V in) { return log_softmax(in[0], 1); }, {{2, 3}}},
      {"mse_loss", [](V in) { return mse_loss(in[0], in[1]) + mse_loss(in[0], in[1], Reduction::kNone); }, {{2, 3}, {2, 3}}},
      {"l1_loss", [](V in) { return l1_loss(in[0], in[1]); }, {{2, 3}, {2, 3}}},
      {"smooth_l1_loss", [](V in) { return smooth_l1_loss(in[0], in[1], Reduction::kSum, 0.5); }, {{2, 3}, {2, 3}}},
      {"bce_with_logits", [](V in) { return binary_cross_entropy_with_logits(in[0], in[1]); }, {{2, 3}, {2, 3}}, 0.1, 0.9},
      {"nll_loss", [=](V in) { return nll_loss(in[0], labels(in[0])); }, {{4, 3}}},
      {"nll_loss2d",
       [](V in) {
         return nll_loss(in[0], indices({2, 0, 1, 2}, {1, 2, 2}, in[0]));
       },
       {{1, 3, 2, 2}}},
      {"cross_entropy",
       [=](V in) {
         const Tensor weight = tensor({0.5, 2.0, 1.0}, in[0].options());
         return cross_entropy(in[0], labels(in[0]), weight, Reduction::kMean, 1, 0.1);
       },
       {{4, 3}}},
      {"embedding",
       [](V in) {
         const Tensor rows = embedding(in[0], indices({1, 0, 1, 3}, {2, 2}, in[0]));
         return rows * rows;
       },
       {{4, 3}}},
      {"dropout",
       [](V in) {
         manual_seed(3);
         return dropout(in[0], 0.3, true) * in[0];
       },
       {{3, 5}}},
      {"layer_norm",
       [](V in) {
         return layer_norm(in[0], {3, 2}, in[1], in[2]);
       },
       {{4, 3, 2}, {3, 2}, {3, 2}}},
      {"rms_norm", [](V in) { return rms_norm(in[0], {5}, in[1]); }, {{3, 5}, {5}}},
      {"batch_norm", [](V in) { return batch_norm(in[0], in[1], in[2], {}, {}, true); }, {{3, 2, 4}, {2}, {2}}},
      {"batch_norm_rows", [](V in) { return batch_norm(in[0], in[1], in[2], {}, {}, true); }, {{5, 2}, {2}, {2}}},
      {"batch_norm_eval",
       [](V in) {
         const Tensor mean = tensor({0.3, -0.2}, in[0].options()), var = tensor({0.5, 2.0}, in[0].options());
         return batch_norm(in[0], in[1], in[2], mean, var, false);
       },
       {{3, 2, 4}, {2}, {2}}},
      {"group_norm", [](V in) { return group_norm(in[0], 2, in[1], in[2]); }, {{2, 4, 3}, {4}, {4}}},
      {"conv1d", [](V in) { return conv1d(in[0], in[1], in[2], 2, 1); }, {{2, 2, 5}, {3, 2, 2}, {3}}},
      {"conv2d",
       [](V in) {
         return conv2d(in[0], in[1], in[2], {2, 1}, 1, {1, 2}, 2);
       },
       {{1, 4, 4, 5}, {2, 2, 2, 2}, {2}}},
      {"conv2d_pointwise", [](V in) { return conv2d(in[0], in[1]); }, {{2, 3, 2, 2}, {2, 3, 1, 1}}},
      {"im2col",
       [](V in) {
         return col2im(im2col(in[0], 2, 1, 1, 1) * 2, {3, 3}, 2, 1, 1, 1);
       },
       {{1, 2, 3, 3}}},
      {"max_pool2d", [](V in) { return max_pool2d(in[0], 2, 1) * max_pool2d(in[0], 2, 1); }, {{1, 2, 4, 4}}, -5, 5},
      {"avg_pool2d",
       [](V in) {
         return avg_pool2d(in[0], {2, 3}, 1, 1, false, false);
       },
       {{1, 2, 4, 4}}},
      {"adaptive_avg_pool2d",
       [](V in) {
         return adaptive_avg_pool2d(in[0], {3, 2});
       },
       {{1, 2, 4, 5}}},
      {"attention",
       [](V in) { return scaled_dot_product_attention(in[0], in[1], in[2], {.is_causal = true}); },
       {{1, 2, 3, 2}, {1, 2, 3, 2}, {1, 2, 3, 3}}},
      {"attention_mask",
       [](V in) { return scaled_dot_product_attention(in[0], in[1], in[2], {.attn_mask = in[3].detach() > 0}); },
       {{2, 3, 2}, {2, 3, 2}, {2, 3, 3}, {3, 3}}},
  };
}

// Those of op_cases.h and these.
inline std::vector<OpCase> every_op_case() {
  std::vector<OpCase> cases = all_op_cases();
  for (const OpCase& op : nn_op_cases()) cases.push_back(op);
  return cases;
}

}  // namespace mindtorch::testing
