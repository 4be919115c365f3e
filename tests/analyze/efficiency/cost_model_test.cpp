// The cost model: FLOPs and bytes that were counted by hand.
#include "mindtorch/analyze/efficiency/cost_model.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>
#include <vector>

#include "mindtorch/analyze/flops.h"
#include "mindtorch/trace/inputs.h"

namespace mindtorch::analyze {
namespace {

using trace::Input;
using trace::ScalarType;

Input tensor(std::vector<std::int64_t> sizes, ScalarType dtype = ScalarType::kFloat, std::vector<std::int64_t> strides = {}) {
  return {.kind = Input::Kind::kTensor, .dtype = dtype, .sizes = std::move(sizes), .strides = std::move(strides)};
}
Input list(std::vector<std::int64_t> values) { return {.kind = Input::Kind::kIntList, .sizes = std::move(values)}; }
Input tensors(std::vector<Input> all) { return {.kind = Input::Kind::kTensorList, .list = std::move(all)}; }
Input flags(std::vector<std::int64_t> values) { return {.kind = Input::Kind::kBoolList, .sizes = std::move(values)}; }
Input number(std::int64_t value) { return {.kind = Input::Kind::kInt, .integer = value}; }
Input flag(bool value) { return {.kind = Input::Kind::kBool, .integer = value}; }
Input real(double value) { return {.kind = Input::Kind::kDouble, .real = value}; }
const Input kNone{};

std::optional<OpCost> cost(std::string_view op, const std::vector<Input>& inputs) {
  const auto words = trace::encode_inputs(inputs);
  std::vector<Argument> arguments;
  read_arguments(words, arguments);
  return op_cost(op, arguments);
}

void expect_cost(std::string_view op, const std::vector<Input>& inputs, double flops, double bytes) {
  const auto found = cost(op, inputs);
  ASSERT_TRUE(found.has_value()) << op;
  EXPECT_EQ(found->flops, flops) << op;
  EXPECT_TRUE(found->has_bytes) << op;
  EXPECT_EQ(found->bytes, bytes) << op;
}

TEST(CostModel, ProductsReadTheirOperandsOnceAndWriteTheirResult) {
  expect_cost("aten::mm", {tensor({2, 3}), tensor({3, 4})}, 48, 4 * (6 + 12 + 8));
  expect_cost("aten::mm", {tensor({2, 3}, ScalarType::kBFloat16), tensor({3, 4}, ScalarType::kBFloat16)}, 48, 2 * (6 + 12 + 8));
  expect_cost("aten::addmm", {tensor({4}), tensor({2, 3}), tensor({3, 4}), number(1), number(1)}, 48, 4 * (4 + 6 + 12 + 8));
  expect_cost("aten::bmm", {tensor({5, 2, 3}), tensor({5, 3, 4})}, 240, 4 * (30 + 60 + 40));
  expect_cost("aten::baddbmm", {tensor({5, 2, 4}), tensor({5, 2, 3}), tensor({5, 3, 4})}, 240, 4 * (40 + 30 + 60 + 40));
  expect_cost("aten::linear", {tensor({3, 4, 7}), tensor({5, 7}), tensor({5})}, 840, 4 * (84 + 35 + 5 + 60));
  expect_cost("aten::mv", {tensor({6, 7}), tensor({7})}, 84, 4 * (42 + 7 + 6));
}

TEST(CostModel, EightBitProductsAreNotInTorchsTable) {
  EXPECT_EQ(flop_formula("aten::_scaled_mm"), nullptr);
  expect_cost("aten::_scaled_mm", {tensor({16, 32}, ScalarType::kOther), tensor({32, 64}, ScalarType::kOther), tensor({}), tensor({})},
              2.0 * 16 * 32 * 64, 16 * 32 + 32 * 64 + 2 * 16 * 64);
}

TEST(CostModel, AnExpandedOperandLiesInMemoryOnce) {
  expect_cost("aten::mul", {tensor({8, 16}), tensor({8, 16}, ScalarType::kFloat, {0, 1})}, 128, 4 * (128 + 16 + 128));
}

TEST(CostModel, Convolutions) {
  // 8 outputs of 2 x 5 x 7 positions in 2 samples, 3 x 3 x 2 weights each.
  expect_cost("aten::conv2d", {tensor({2, 6, 9, 11}), tensor({8, 3, 3, 2}), kNone, list({2, 1}), list({1, 2}), list({1, 2}), number(2)},
              37440, 4 * (2 * 6 * 9 * 11 + 8 * 3 * 3 * 2 + 37440.0 / (2 * 3 * 3 * 2)));
  expect_cost("aten::conv_transpose1d",
              {tensor({2, 3, 10}), tensor({3, 4, 4}), kNone, list({2}), list({0}), list({0}), number(1), list({1})}, 1920,
              4 * (60 + 48 + 2 * 4 * 20));
  // The gradients of input and weight, not that of the bias.
  expect_cost("aten::convolution_backward",
              {tensor({2, 4, 6, 6}), tensor({2, 3, 8, 8}), tensor({4, 3, 3, 3}), list({4}), list({1, 1}), list({0, 0}), list({1, 1}),
               flag(false), list({0, 0}), number(1), flags({1, 1, 0})},
              2 * 2.0 * 2 * 36 * 4 * 3 * 9, 4 * (288 + 384 + 108 + 384 + 108));
}

TEST(CostModel, AConvolutionWhoseStrideWasNotRecordedHasNoCost) {
  EXPECT_FALSE(cost("aten::conv2d", {tensor({2, 6, 9, 11}), tensor({8, 6, 3, 3}), kNone, kNone, kNone, kNone, kNone}));
}

TEST(CostModel, AttentionAsTorchCountsIt) {
  const std::vector<Input> qkv = {tensor({2, 4, 128, 64}), tensor({2, 4, 128, 64}), tensor({2, 4, 128, 64})};
  std::vector<Input> forward = qkv;
  forward.insert(forward.end(), {real(0), flag(false)});
  const double product = 2.0 * 2 * 4 * 128 * 128 * 64, elements = 2 * 4 * 128 * 64, rows = 2 * 4 * 128;
  expect_cost("aten::_scaled_dot_product_flash_attention", forward, 2 * product, 4 * (4 * elements + rows));
  std::vector<Input> backward = {qkv[0]};
  backward.insert(backward.end(), qkv.begin(), qkv.end());
  backward.insert(backward.end(), {qkv[0], tensor({2, 4, 128}), real(0), flag(false)});
  expect_cost("aten::_scaled_dot_product_flash_attention_for_cpu_backward", backward, 5 * product, 4 * (8 * elements + rows));
  EXPECT_EQ(cost("aten::_scaled_dot_product_flash_attention_for_cpu_backward", backward)->recomputed, product);
}

TEST(CostModel, AFusedKernelSkipsWhatIsMaskedAndTheMathKernelDoesNot) {
  const std::vector<Input> qkv = {tensor({1, 1, 4, 8}), tensor({1, 1, 4, 8}), tensor({1, 1, 4, 8})};
  std::vector<Input> flash = qkv, math = qkv;
  flash.insert(flash.end(), {real(0), flag(true)});
  math.insert(math.end(), {kNone, real(0), flag(true)});
  // Of 16 scores, 10 are kept.
  EXPECT_EQ(cost("aten::_scaled_dot_product_flash_attention", flash)->flops, 2 * 2.0 * 10 * 8);
  EXPECT_EQ(cost("aten::_scaled_dot_product_attention_math", math)->flops, 2 * 2.0 * 16 * 8);
}

TEST(CostModel, ElementWiseOpsAreCountedAtTheSizeOfTheirResult) {
  // torch counts the first argument alone.
  expect_cost("aten::add", {tensor({1, 16}), tensor({8, 16}), number(1)}, 128, 4 * (16 + 128 + 128));
  expect_cost("aten::add_", {tensor({8, 16}), tensor({8, 16}), number(1)}, 128, 4 * 3 * 128);
  expect_cost("aten::gelu", {tensor({10})}, 80, 80);
  expect_cost("aten::eq", {tensor({10}), tensor({10})}, 0, 40 + 40 + 10);
  expect_cost("aten::add", {tensor({10}, ScalarType::kBFloat16), tensor({10})}, 10, 20 + 40 + 40);
  expect_cost("aten::mul", {tensor({10}, ScalarType::kHalf), tensor({}, ScalarType::kFloat)}, 10, 20 + 4 + 20);
  expect_cost("aten::fill_", {tensor({10}), number(0)}, 0, 40);
  expect_cost("aten::copy_", {tensor({10}), tensor({10}, ScalarType::kBFloat16), flag(false)}, 0, 60);
}

TEST(CostModel, ReductionsAndNormalisations) {
  expect_cost("aten::sum", {tensor({8, 16}), list({0}), flag(false)}, 128, 4 * (128 + 16));
  expect_cost("aten::mean", {tensor({8, 16}), list({-1}), flag(true)}, 128, 4 * (128 + 8));
  expect_cost("aten::sum", {tensor({8, 16}), kNone}, 128, 4 * (128 + 1));
  expect_cost("aten::_softmax", {tensor({8, 16}), number(1), flag(false)}, 7 * 128, 4 * 256);
  expect_cost("aten::native_layer_norm", {tensor({8, 16}), list({16}), tensor({16}), tensor({16}), real(1e-5)}, 8 * 128, 4 * (256 + 32));
  expect_cost("aten::max_pool2d_with_indices", {tensor({1, 2, 8, 8}), list({2, 2}), list({2, 2}), list({0, 0}), list({1, 1}), flag(false)},
              2 * 16 * 4, 4 * 128 + 4 * 32 + 8 * 32);
}

TEST(CostModel, EmbeddingsMoveTheRowsThatAreUsed) {
  expect_cost("aten::embedding", {tensor({1000, 16}), tensor({5}, ScalarType::kInt64)}, 0, 5 * 8 + 2 * 5 * 16 * 4);
  expect_cost("aten::embedding_dense_backward", {tensor({5, 16}), tensor({5}, ScalarType::kInt64), number(1000), number(-1), flag(false)},
              80, 80 * 4 + 40 + 16000 * 4);
  expect_cost("aten::index_select", {tensor({100, 16}), number(0), tensor({5}, ScalarType::kInt64)}, 0, 40 + 2 * 80 * 4);
  expect_cost("aten::cat", {tensors({tensor({3, 4}), tensor({5, 4})}), number(0)}, 0, 2 * 32 * 4);
}

TEST(CostModel, Optimizers) {
  const Input weights = tensors({tensor({10}), tensor({20})});
  expect_cost("aten::_foreach_mul_", {weights, real(0.9)}, 30, 2 * 120);
  expect_cost("aten::_foreach_addcdiv_", {weights, weights, weights, real(1)}, 90, 4 * 120);
  expect_cost("aten::_foreach_add", {weights, weights, number(1)}, 30, 3 * 120);
  // Weights, moments and squares are read and written, gradients are read.
  expect_cost("aten::_fused_adamw_", {weights, weights, weights, weights, tensors({}), weights}, 14 * 30, 7 * 120);
  expect_cost("aten::_fused_sgd_", {weights, weights, weights}, 4 * 30, 5 * 120);
}

TEST(CostModel, FusedKernelsPassOverTheirBuffersOnce) {
  expect_cost("triton_poi_fused_add_mul_relu_3", {tensor({64}), tensor({64}), tensor({64}), number(64)}, 3 * 64, 3 * 256);
  EXPECT_FALSE(cost("triton_tem_fused_mm_0", {tensor({64})}));
}

TEST(CostModel, AnUnknownTypeGivesFlopsOfProductsAlone) {
  const auto product = cost("aten::mm", {tensor({2, 3}, ScalarType::kOther), tensor({3, 4}, ScalarType::kOther)});
  ASSERT_TRUE(product.has_value());
  EXPECT_EQ(product->flops, 48);
  EXPECT_FALSE(product->has_bytes);
  EXPECT_FALSE(cost("aten::add", {tensor({2}, ScalarType::kOther), tensor({2}, ScalarType::kOther)}));
}

TEST(CostModel, ViewsAndUnknownOpsHaveNone) {
  EXPECT_FALSE(cost("aten::view", {tensor({2, 3})}));
  EXPECT_FALSE(cost("mylib::op", {tensor({2, 3})}));
  EXPECT_FALSE(cost("aten::mm", {}));
  EXPECT_FALSE(cost("aten::embedding", {tensor({3})}));
  EXPECT_FALSE(cost("aten::_fused_adamw_", {tensor({3})}));
}

TEST(CostModel, EveryProductOfTorchsTableHasACost) {
  const std::vector<Input> none;
  for (const std::string_view op : ops_with_flops()) {
    if (op == "linear_backward") continue;  // of the MPS backend only
    EXPECT_TRUE(has_cost_model(op)) << op;
    EXPECT_FALSE(cost(op, none)) << op;
  }
}

}  // namespace
}  // namespace mindtorch::analyze
