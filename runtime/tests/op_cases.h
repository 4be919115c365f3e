// Every differentiable op of the runtime with inputs that exercise it: strides, broadcasting, several dimensions. Used by the gradient
// tests and by the contract that every device must fulfil.
#pragma once

#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "runtime/tests/gradcheck.h"

namespace mindtorch::testing {

struct OpCase {
  std::string name;
  DifferentiableFunction function;
  std::vector<std::vector<std::int64_t>> shapes;  // of the float64 inputs
  double low = -1, high = 1;                      // their range
  bool second_order = true;

  TensorVector inputs() const {
    TensorVector result;
    for (std::size_t i = 0; i < shapes.size(); ++i) result.push_back(gradcheck_input(shapes[i], i + 1, low, high));
    return result;
  }
  friend void PrintTo(const OpCase& op, std::ostream* out) { *out << op.name; }
};

// Integers as a tensor on the device of `like`.
inline Tensor indices(std::initializer_list<std::int64_t> values, IntArrayRef sizes, const Tensor& like) {
  return tensor<std::int64_t>(std::vector<std::int64_t>(values), sizes, {.device = like.device()});
}

inline std::vector<OpCase> arithmetic_cases() {
  using V = const TensorVector&;
  const double kBig = 2;
  return {
      {"add", [](V in) { return add(in[0], in[1], 0.7); }, {{2, 3}, {3}}},
      {"add_scalar", [](V in) { return in[0] + 1.5; }, {{2, 3}}},
      {"sub", [](V in) { return sub(in[0], in[1], 2); }, {{2, 1, 3}, {4, 1}}},
      {"sub_scalar", [](V in) { return in[0] - 3; }, {{4}}},
      {"rsub", [](V in) { return 2 - in[0]; }, {{4}}},
      {"mul", [](V in) { return in[0] * in[1]; }, {{2, 3}, {2, 1}}},
      {"mul_scalar", [](V in) { return in[0] * -2.5; }, {{2, 3}}},
      {"div", [](V in) { return in[0] / in[1]; }, {{2, 3}, {3}}, 0.5, kBig},
      {"div_scalar", [](V in) { return in[0] / 4; }, {{2, 3}}},
      {"rdiv", [](V in) { return 3 / in[0]; }, {{2, 3}}, 0.5, kBig},
      {"neg", [](V in) { return -in[0].t(); }, {{2, 3}}},
      {"reciprocal", [](V in) { return reciprocal(in[0]); }, {{5}}, 0.5, kBig},
      {"in_place", [](V in) { return (in[0] * 1).add_(in[1], 2).mul_(in[1]).sub_(in[0]).div_(in[1]).neg_(); }, {{2, 3}, {3}}, 0.5, kBig},
      {"in_place_scalar", [](V in) { return (in[0] * 1).add_(2).mul_(3).sub_(1).div_(2).reciprocal_(); }, {{2, 3}}, 0.5, kBig},
      {"pow_number",
       [](V in) { return in[0].pow(2) + in[0].pow(3) + in[0].pow(1.7) + in[0].pow(-1) + in[0].pow(0) + in[0].pow(0.5); },
       {{2, 3}},
       0.5,
       kBig},
      {"pow", [](V in) { return pow(in[0], in[1]); }, {{2, 3}, {3}}, 0.5, kBig},
      {"pow_of_number", [](V in) { return pow(1.7, in[0]); }, {{2, 3}}},
      {"pow_", [](V in) { return (in[0] * 1).pow_(3); }, {{2, 3}}, 0.5, kBig},
      {"addcmul", [](V in) { return addcmul(in[0], in[1], in[2], 0.5); }, {{2, 3}, {3}, {2, 1}}},
      {"addcdiv", [](V in) { return addcdiv(in[0], in[1], in[2], 0.5); }, {{2, 3}, {3}, {2, 1}}, 0.5, kBig},
      {"addcmul_",
       [](V in) { return (in[0] * 1).addcmul_(in[1], in[2], 0.5).addcdiv_(in[1], in[2], 2); },
       {{2, 3}, {3}, {2, 1}},
       0.5,
       kBig},
      {"lerp", [](V in) { return lerp(in[0], in[1], in[2]) + lerp(in[0], in[1], 0.3); }, {{2, 3}, {2, 3}, {3}}},
      {"lerp_", [](V in) { return (in[0] * 1).lerp_(in[1], 0.8); }, {{2, 3}, {2, 3}}},
  };
}

inline std::vector<OpCase> unary_cases() {
  using V = const TensorVector&;
  return {
      {"abs", [](V in) { return abs(in[0]); }, {{2, 3}}, 0.2, 1},
      {"sign", [](V in) { return sign(in[0]) * in[0] + floor(in[0]) + ceil(in[0]) + trunc(in[0]) + round(in[0]); }, {{2, 3}}, 0.1, 0.4},
      {"relu", [](V in) { return relu(in[0]) * in[0] + (in[0] * 1).relu_(); }, {{3, 4}}},
      {"exp", [](V in) { return exp(in[0].t()) + (in[0].t() * 1).exp_(); }, {{2, 3}}},
      {"expm1", [](V in) { return expm1(in[0]); }, {{2, 3}}},
      {"log", [](V in) { return log(in[0]) + log2(in[0]) + log1p(in[0]); }, {{2, 3}}, 0.5, 2},
      {"sqrt", [](V in) { return sqrt(in[0]) + rsqrt(in[0]) + (in[0] * 1).sqrt_() * (in[0] * 1).rsqrt_(); }, {{2, 3}}, 0.5, 2},
      {"sin", [](V in) { return sin(in[0]) * cos(in[0]) + (in[0] * 1).sin_().cos_(); }, {{2, 3}}},
      {"tanh", [](V in) { return tanh(in[0]) + (in[0] * 1).tanh_(); }, {{2, 3}}},
      {"sigmoid", [](V in) { return sigmoid(in[0]) + (in[0] * 1).sigmoid_(); }, {{2, 3}}},
      {"erf", [](V in) { return erf(in[0]); }, {{2, 3}}},
      {"square", [](V in) { return square(in[0]); }, {{2, 3}}},
      {"clamp",
       [](V in) {
         return clamp(in[0], -0.3, 0.6) * in[0] + in[0].clamp_min(0.1) * in[0].clamp_max(0.2) + (in[0] * 1).clamp_(-0.5, std::nullopt);
       },
       {{3, 4}}},
      {"maximum", [](V in) { return maximum(in[0], in[1]) * minimum(in[0], in[1] * 0.5); }, {{2, 3}, {3}}},
      {"where",
       [](V in) { return where(in[0] > 0, in[0] * in[1], in[1]) + where(in[1] < 0, in[1], 2) + where(in[1] < 0, 1.5, in[0]); },
       {{2, 3}, {3}}},
      {"masked_fill",
       [](V in) { return in[0].masked_fill(in[1] > 0, 3) * in[0] + (in[0] * 1).masked_fill_(in[1] > 0, -1); },
       {{2, 3}, {3}}},
  };
}

inline std::vector<OpCase> reduction_cases() {
  using V = const TensorVector&;
  return {
      {"sum", [](V in) { return in[0].sum() * in[0].sum({1}) + in[0].transpose(1, 2).sum({1}).sum({1}, true); }, {{2, 3, 4}}},
      {"mean", [](V in) { return in[0].mean() * in[0].mean({-1}, true) * in[0].transpose(0, 1).mean({0}).unsqueeze(1); }, {{2, 3, 4}}},
      {"prod", [](V in) { return in[0].prod() * in[0].prod(1) + in[0].prod(-1, true).sum(); }, {{2, 3}}},
      {"var", [](V in) { return var(in[0]) + var(in[0], IntArrayRef(1)).sum() * std(in[0], IntArrayRef(0), 0, true); }, {{3, 4}}},
      {"norm",
       [](V in) { return norm(in[0]) * norm(in[0], 1, IntArrayRef(1)) + norm(in[0], 3, IntArrayRef(1)) + norm(in[0], 1.5); },
       {{3, 4}},
       0.2,
       1},
      {"inf_norm", [](V in) { return norm(in[0], std::numeric_limits<double>::infinity(), IntArrayRef(0)); }, {{3, 4}}},
      {"logsumexp",
       [](V in) {
         return logsumexp(in[0], {1}) * logsumexp(in[0], {0, 1}, true).squeeze();
       },
       {{3, 4}}},
      {"max", [](V in) { return in[0].max() * in[0].min() + std::get<0>(in[0].max(1)) * std::get<0>(in[0].min(0, true)).sum(); }, {{3, 4}}},
      {"amax",
       [](V in) {
         return amax(in[0], {1}) * amin(in[0], {0, 1}) + amax(in[0], {0}, true).sum();
       },
       {{3, 4}}},
      {"topk", [](V in) { return std::get<0>(topk(in[0], 2, 1)) * std::get<0>(topk(in[0], 2, 1, false)); }, {{3, 4}}},
      {"cumsum", [](V in) { return cumsum(in[0], 1) * cumsum(in[0], 0); }, {{3, 4}}},
  };
}

inline std::vector<OpCase> matmul_cases() {
  using V = const TensorVector&;
  return {
      {"mm", [](V in) { return mm(in[0], in[1]); }, {{3, 4}, {4, 2}}},
      {"mm_transposed", [](V in) { return mm(in[0].t(), in[1].t()); }, {{4, 3}, {2, 4}}},
      {"bmm", [](V in) { return bmm(in[0], in[1].transpose(1, 2)); }, {{2, 3, 4}, {2, 2, 4}}},
      {"addmm", [](V in) { return addmm(in[0], in[1], in[2], 0.5, 2); }, {{2}, {3, 4}, {4, 2}}},
      {"baddbmm", [](V in) { return baddbmm(in[0], in[1], in[2], 0.5, 2); }, {{3, 1}, {2, 3, 4}, {2, 4, 2}}},
      {"mv", [](V in) { return mv(in[0], in[1]); }, {{3, 4}, {4}}},
      {"dot", [](V in) { return dot(in[0], in[1]); }, {{4}, {4}}},
      {"matmul_1_2", [](V in) { return matmul(in[0], in[1]); }, {{4}, {4, 3}}},
      {"matmul_3_1", [](V in) { return matmul(in[0], in[1]); }, {{2, 3, 4}, {4}}},
      {"matmul_3_2", [](V in) { return matmul(in[0], in[1]); }, {{2, 3, 4}, {4, 2}}},
      {"matmul_2_3", [](V in) { return matmul(in[0], in[1]); }, {{3, 4}, {2, 4, 2}}},
      {"matmul_1_3", [](V in) { return matmul(in[0], in[1]); }, {{4}, {2, 4, 2}}},
      {"matmul_batches", [](V in) { return matmul(in[0], in[1]); }, {{2, 1, 3, 4}, {3, 4, 2}}},
      {"linear", [](V in) { return linear(in[0], in[1], in[2]); }, {{3, 4}, {2, 4}, {2}}},
      {"linear_3d", [](V in) { return linear(in[0], in[1], in[2]) + linear(in[0], in[1]); }, {{2, 3, 4}, {2, 4}, {2}}},
      {"linear_strided", [](V in) { return linear(in[0].transpose(0, 1), in[1], in[2]); }, {{3, 2, 4}, {2, 4}, {2}}},
  };
}

inline std::vector<OpCase> shape_cases() {
  using V = const TensorVector&;
  return {
      {"view",
       [](V in) {
         return in[0].view({3, 2, -1}) * 2;
       },
       {{2, 3, 4}}},
      {"reshape",
       [](V in) {
         return in[0].t().reshape({2, 6}) * in[0].reshape({2, 6});
       },
       {{3, 4}}},
      {"flatten", [](V in) { return in[0].flatten(1) + in[0].flatten().sum(); }, {{2, 3, 2}}},
      {"expand",
       [](V in) {
         return in[0].expand({4, 2, 3}) * in[0].expand({-1, 3});
       },
       {{2, 1}}},
      {"transpose", [](V in) { return in[0].transpose(0, -1) * in[1].t(); }, {{2, 3}, {2, 3}}},
      {"permute",
       [](V in) {
         return in[0].permute({2, 0, 1}) * in[0].permute({2, -3, 1});
       },
       {{2, 3, 4}}},
      {"squeeze", [](V in) { return in[0].squeeze() * in[0].squeeze(1).squeeze(0).unsqueeze(-1).squeeze(-1); }, {{1, 1, 3}}},
      {"as_strided",
       [](V in) {
         return in[0].as_strided({2, 3}, {3, 1}, 1) * in[0].as_strided({2, 3}, {1, 1});
       },
       {{3, 3}}},
      {"clone", [](V in) { return in[0].t().clone() * in[0].t().contiguous(); }, {{2, 3}}},
      {"to", [](V in) { return in[0].to(in[0].dtype(), true) * in[0]; }, {{2, 3}}},
      {"copy_", [](V in) { return (in[0] * 2).copy_(in[1]) * in[0]; }, {{2, 3}, {3}}},
      {"fill_", [](V in) { return (in[0] * 2).fill_(3) * in[0] + (in[0] * 3).zero_(); }, {{2, 3}}},
      {"select", [](V in) { return in[0].select(1, 1) * in[0].select(-1, -1).sum() * in[0][0].sum(); }, {{2, 3}}},
      {"slice", [](V in) { return in[0].slice(1, 1, std::nullopt, 2) * in[0].slice(1, -4, -2) * in[0].narrow(1, 0, 2); }, {{2, 5}}},
      {"cat",
       [](V in) {
         return cat({in[0], in[1], in[0]}, 1) * 2;
       },
       {{2, 3}, {2, 1}}},
      {"stack",
       [](V in) {
         return stack({in[0], in[1] * in[0]}, -1);
       },
       {{2, 3}, {2, 3}}},
      {"split",
       [](V in) {
         return in[0].split(2, 1)[0] * in[0].split_with_sizes({1, 2, 2}, 1)[1];
       },
       {{2, 5}}},
      {"chunk", [](V in) { return in[0].chunk(2, 1)[0] * in[0].chunk(3, 1)[1].sum(); }, {{2, 5}}},
      {"unbind", [](V in) { return in[0].unbind(1)[0] * in[0].unbind(1)[2]; }, {{2, 3}}},
      {"repeat",
       [](V in) {
         return in[0].repeat({2, 1, 2}) * 3;
       },
       {{2, 3}}},
      {"index_select",
       [](V in) {
         return in[0].index_select(1, indices({2, 0, 2}, {3}, in[0])) * in[0];
       },
       {{2, 3}}},
      {"gather",
       [](V in) {
         return in[0].gather(1, indices({2, 0, 1, 1}, {2, 2}, in[0])) * 2;
       },
       {{2, 3}}},
      {"scatter",
       [](V in) {
         return scatter(in[0], 1, indices({2, 0, 1, 1}, {2, 2}, in[0]).slice(1, 0, 1), in[1]) * in[0];
       },
       {{2, 3}, {2, 2}}},
      {"scatter_add",
       [](V in) {
         return scatter_add(in[0] * in[0], 1, indices({2, 0, 1, 1}, {2, 2}, in[0]), in[1]);
       },
       {{2, 3}, {2, 2}}},
      {"index_add",
       [](V in) {
         return index_add(in[0] * in[0], 0, indices({1, 1, 0}, {3}, in[0]), in[1], 0.5);
       },
       {{2, 3}, {3, 3}}},
      {"index_in_place",
       [](V in) {
         return (in[0] * 1).index_add_(1, indices({1, 1}, {2}, in[0]), in[1]).scatter_add_(0, indices({0, 1}, {1, 2}, in[0]), in[1]);
       },
       {{2, 3}, {2, 2}}},
      {"tril", [](V in) { return in[0].tril() * in[0].triu(-1) + in[0].tril(1); }, {{2, 3, 3}}},
      {"in_place_on_views",
       [](V in) {
         const Tensor base = in[0] * in[0];
         base.select(0, 1).mul_(in[1]);
         base.t().narrow(0, 1, 2).add_(in[0].t().narrow(0, 0, 2));
         return base * in[0];
       },
       {{2, 3}, {3}}},
  };
}

inline std::vector<OpCase> all_op_cases() {
  std::vector<OpCase> cases;
  for (const auto& family : {arithmetic_cases(), unary_cases(), reduction_cases(), matmul_cases(), shape_cases()})
    cases.insert(cases.end(), family.begin(), family.end());
  return cases;
}

}  // namespace mindtorch::testing
