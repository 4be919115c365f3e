// FLOP formulas: numbers that torch's own counters (profiler and flop_counter) give for the same calls.
#include "mindtorch/analyze/flops.h"

#include <gtest/gtest.h>

#include <limits>

#include "mindtorch/trace/inputs.h"

namespace mindtorch::analyze {
namespace {

using trace::Input;

Input tensor(std::vector<std::int64_t> sizes) {
  return {.kind = Input::Kind::kTensor, .dtype = trace::ScalarType::kFloat, .sizes = std::move(sizes)};
}
Input list(std::vector<std::int64_t> values) { return {.kind = Input::Kind::kIntList, .sizes = std::move(values)}; }
Input flags(std::vector<std::int64_t> values) { return {.kind = Input::Kind::kBoolList, .sizes = std::move(values)}; }
Input number(std::int64_t value) { return {.kind = Input::Kind::kInt, .integer = value}; }
Input flag(bool value) { return {.kind = Input::Kind::kBool, .integer = value}; }
const Input kNone{};

std::int64_t flops(std::string_view op, const std::vector<Input>& inputs) {
  const FlopFormula formula = flop_formula(op);
  if (formula == nullptr) return -1;
  const auto words = trace::encode_inputs(inputs);
  std::vector<Argument> arguments;
  read_arguments(words, arguments);
  return formula(arguments);
}

TEST(Flops, MatrixProducts) {
  EXPECT_EQ(flops("aten::mm", {tensor({2, 3}), tensor({3, 4})}), 48);
  EXPECT_EQ(flops("aten::addmm", {tensor({4}), tensor({4, 4}), tensor({4, 4}), number(1), number(1)}), 128);
  EXPECT_EQ(flops("aten::bmm", {tensor({5, 2, 3}), tensor({5, 3, 4})}), 240);
  EXPECT_EQ(flops("aten::baddbmm", {tensor({5, 2, 4}), tensor({5, 2, 3}), tensor({5, 3, 4})}), 240);
  EXPECT_EQ(flops("aten::linear", {tensor({3, 4, 7}), tensor({5, 7}), tensor({5})}), 840);
  EXPECT_EQ(flops("aten::linear", {tensor({3, 7}), tensor({7})}), 42);
  EXPECT_EQ(flops("aten::linear_backward", {tensor({3, 4, 7}), tensor({3, 4, 5}), tensor({5, 7})}), 1680);
  EXPECT_EQ(flops("mm", {tensor({2, 0}), tensor({0, 4})}), 0);
}

TEST(Flops, MatmulOfAnyRank) {
  EXPECT_EQ(flops("aten::matmul", {tensor({3, 1, 4, 5}), tensor({6, 5, 2})}), 1440);
  EXPECT_EQ(flops("aten::matmul", {tensor({4, 5}), tensor({5})}), 40);
  EXPECT_EQ(flops("aten::matmul", {tensor({5}), tensor({5})}), 10);
  EXPECT_EQ(flops("aten::matmul", {tensor({5}), tensor({2, 5, 3})}), 60);
  EXPECT_EQ(flops("aten::matmul", {tensor({}), tensor({5})}), 0);
}

TEST(Flops, Convolutions) {
  EXPECT_EQ(
      flops("aten::conv2d", {tensor({2, 6, 9, 11}), tensor({8, 3, 3, 2}), kNone, list({2, 1}), list({1, 2}), list({1, 2}), number(2)}),
      37440);
  EXPECT_EQ(flops("aten::conv2d", {tensor({6, 9, 11}), tensor({8, 3, 3, 2}), kNone, list({2, 1}), list({1, 2}), list({1, 2}), number(2)}),
            18720);
  EXPECT_EQ(flops("aten::conv1d", {tensor({2, 3, 10}), tensor({4, 3, 4}), kNone, list({3}), list({0}), list({1}), number(1)}), 576);
  EXPECT_EQ(flops("aten::conv3d", {tensor({2, 3, 5, 6, 7}), tensor({4, 3, 2, 2, 2})}), 46080);
  EXPECT_EQ(flops("aten::conv_transpose1d", {tensor({2, 3, 10}), tensor({3, 4, 4}), kNone, list({2})}), 1920);
  const std::vector<Input> transposed{tensor({2, 3, 10}), tensor({3, 4, 4}), kNone,     list({2}), list({0}),
                                      list({1}),          flag(true),        list({0}), number(1)};
  EXPECT_EQ(flops("aten::convolution", transposed), 1920);
  EXPECT_EQ(flops("aten::_convolution", {tensor({2, 3, 10}), tensor({4, 3, 4}), kNone, list({3}), list({0}), list({1}), flag(false)}), 576);
}

TEST(Flops, TheBackwardOfAConvolutionIsOneForwardForEachGradientAskedFor) {
  const auto backward = [](std::vector<std::int64_t> mask) {
    return flops("aten::convolution_backward",
                 {tensor({2, 4, 4, 5, 6}), tensor({2, 3, 5, 6, 7}), tensor({4, 3, 2, 2, 2}), list({0}), list({1, 1, 1}), list({0, 0, 0}),
                  list({1, 1, 1}), flag(false), list({0, 0, 0}), number(1), flags(std::move(mask))});
  };
  EXPECT_EQ(backward({1, 1, 0}), 2 * 46080);
  EXPECT_EQ(backward({0, 1, 1}), 46080);
  EXPECT_EQ(flops("aten::convolution_backward", {tensor({2, 4, 4, 5, 6}), tensor({2, 3, 5, 6, 7}), tensor({4, 3, 2, 2, 2})}), 2 * 46080);
}

TEST(Flops, Attention) {
  const Input q = tensor({2, 3, 5, 8}), k = tensor({2, 3, 7, 8}), v = tensor({2, 3, 7, 8}), out = tensor({2, 3, 5, 8});
  EXPECT_EQ(flops("aten::scaled_dot_product_attention", {q, k, v}), 6720);
  EXPECT_EQ(flops("aten::_scaled_dot_product_flash_attention_for_cpu", {q, k, v}), 6720);
  EXPECT_EQ(flops("aten::_scaled_dot_product_efficient_attention_backward", {out, q, k, v}), 16800);
}

TEST(Flops, SumsAndProductsCountTheElementsOfTheFirstArgumentAsInTorch) {
  EXPECT_EQ(flops("aten::mul", {tensor({8, 4}), tensor({})}), 32);
  EXPECT_EQ(flops("aten::add", {tensor({4}), tensor({8, 1})}), 4);
  EXPECT_EQ(flops("aten::add", {tensor({3, 3}), number(1)}), 9);
  EXPECT_EQ(flops("aten::mul", {tensor({}), tensor({3, 3})}), 1);
  EXPECT_EQ(flops("aten::mul", {number(1), tensor({3, 3})}), 0);
  for (const std::string_view op : {"aten::add_", "aten::mul_", "aten::sub", "aten::div"}) EXPECT_EQ(flop_formula(op), nullptr) << op;
}

TEST(Flops, OpsWithoutAFormulaHaveNone) {
  EXPECT_EQ(flop_formula("aten::relu"), nullptr);
  EXPECT_EQ(flop_formula("aten::"), nullptr);
  EXPECT_EQ(flop_formula(""), nullptr);
}

TEST(Flops, ArgumentsThatSayTooLittleCountNothing) {
  const std::vector<std::vector<Input>> calls{{},
                                              {kNone},
                                              {tensor({})},
                                              {tensor({}), tensor({}), tensor({})},
                                              {number(3), number(4)},
                                              {tensor({2, 3}), tensor({4, 5})},
                                              {list({}), list({}), list({})},
                                              {tensor({1, 1, 1}), tensor({1, 1, 1}), tensor({1})}};
  for (const std::string_view op : ops_with_flops()) {
    for (const auto& call : calls) EXPECT_GE(flops(op, call), 0) << op;
  }
  EXPECT_EQ(flops("aten::mm", {tensor({2, 3}), tensor({4, 5})}), 0);
  EXPECT_EQ(flops("aten::conv2d", {tensor({1, 1, 4, 4}), tensor({1, 1, 2, 2}), kNone, list({0, 0})}), 0);
}

TEST(Flops, AbsurdNumbersNeitherOverflowNorGoNegative) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max(), kMin = std::numeric_limits<std::int64_t>::min();
  for (const std::string_view op : ops_with_flops()) {
    for (const std::int64_t size : {kMax, kMin, std::int64_t{-1}}) {
      for (const std::size_t rank : {1u, 2u, 3u, 4u, 5u}) {
        const Input t = tensor(std::vector<std::int64_t>(rank, size));
        EXPECT_EQ(flops(op, {t, t, t, t, list({size, size, size})}) > 0,
                  rank == 1 && size == kMax && flop_formula(op) == flop_formula("add"))
            << op << rank;
        EXPECT_GE(
            flops(op, {tensor({1, 1, 3, 3}), tensor({1, 1, 2, 2}), kNone, list({size, size}), list({size, size}), list({size, size})}), 0);
        EXPECT_GE(flops(op, {tensor({1, 1, 3, 3}), tensor({1, 1, 2, 2}), kNone, list({1, 1}), list({size, size}), list({1, 1})}), 0);
        EXPECT_GE(flops(op, {tensor({1, 1, 3, 3}), tensor({1, 1, 2, 2}), kNone, list({1, 1}), list({0, 0}), list({size, size})}), 0);
      }
    }
  }
}

}  // namespace
}  // namespace mindtorch::analyze
