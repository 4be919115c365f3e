// Encoded op arguments: exact round trip, and malformed words are refused rather than read past.
#include "mindtorch/trace/inputs.h"

#include <gtest/gtest.h>

#include <limits>

#include "mindtorch/base/error.h"
#include "mindtorch/trace/tensor_identity.h"

namespace mindtorch::trace {
namespace {

Input tensor(std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides, ScalarType dtype = ScalarType::kFloat) {
  return {.kind = Input::Kind::kTensor, .dtype = dtype, .sizes = std::move(sizes), .strides = std::move(strides)};
}

std::vector<Input> every_kind() {
  return {
      tensor({2, 3, 4}, {12, 4, 1}),
      tensor({2, 3}, {1, 2}, ScalarType::kBFloat16),
      tensor({}, {}, ScalarType::kInt64),
      tensor({2, 0, 3}, {3, 3, 1}),
      {.kind = Input::Kind::kTensorList, .list = {tensor({1}, {1}), tensor({4, 4}, {1, 4})}},
      {.kind = Input::Kind::kTensorList},
      {.kind = Input::Kind::kInt, .integer = std::numeric_limits<std::int64_t>::min()},
      {.kind = Input::Kind::kDouble, .real = -0.1},
      {.kind = Input::Kind::kBool, .integer = 1},
      {.kind = Input::Kind::kText, .text = 4000000000u},
      {.kind = Input::Kind::kIntList, .sizes = {5, -6}},
      {.kind = Input::Kind::kBoolList, .sizes = {1, 0, 1}},
      {.kind = Input::Kind::kDoubleList, .reals = {1.5, 2.5}},
      {.kind = Input::Kind::kNone},
      {.kind = Input::Kind::kOther},
  };
}

TEST(Inputs, EveryKindComesBackAsItWas) {
  const std::vector<Input> inputs = every_kind();
  EXPECT_EQ(decode_inputs(encode_inputs(inputs)), inputs);
  EXPECT_EQ(decode_inputs(encode_inputs({})), std::vector<Input>{});
}

TEST(Inputs, AContiguousTensorTakesNoWordsForStrides) {
  EXPECT_EQ(encode_inputs(std::vector{tensor({2, 3}, {3, 1})}).size(), 4u);
  EXPECT_EQ(encode_inputs(std::vector{tensor({2, 3}, {1, 2})}).size(), 6u);
}

TEST(Inputs, IdentitiesAreNotArgumentsOfTheCall) {
  const std::vector<Input> inputs = every_kind();
  std::vector<std::int64_t> words = encode_inputs(inputs);
  EXPECT_TRUE(tensor_identities(words).empty());
  std::vector<TensorIdentity> identities(6);  // of the four tensors and the two of the list
  identities[0] = {.tensor = ~std::uint64_t{0}, .storage = 0x7F00'0000'1000, .offset = 12, .device = {DeviceType::kNpu, 3}, .layout = 2};
  add_identities(identities, words);
  EXPECT_EQ(tensor_identities(words), identities);
  EXPECT_EQ(decode_inputs(words), inputs);
  EXPECT_EQ(check_inputs(words, 4000000001u), "");
}

TEST(Inputs, IdentitiesOfAnotherNumberOfTensorsAreMalformed) {
  std::vector<std::int64_t> words = encode_inputs(std::vector{tensor({2}, {1}), tensor({3}, {1})});
  add_identities(std::vector<TensorIdentity>(3), words);
  EXPECT_EQ(check_inputs(words, 1), "its identities are not those of its tensors");
  EXPECT_THROW(decode_inputs(words), InvalidArgument);
}

TEST(Inputs, ATensorWithoutStridesIsTakenAsContiguous) {
  EXPECT_EQ(decode_inputs(encode_inputs(std::vector{tensor({2, 3}, {})}))[0].strides, (std::vector<std::int64_t>{3, 1}));
}

TEST(Inputs, ATensorWhoseLayoutHasNoStridesHasNone) {
  const std::vector<std::int64_t> words{1, make_input_header(Input::Kind::kTensor, 2, ScalarType::kFloat, true) | kWithoutStrides, 2, 3};
  EXPECT_EQ(check_inputs(words, 0), "");
  EXPECT_EQ(decode_inputs(words), (std::vector<Input>{tensor({2, 3}, {})}));
}

TEST(Inputs, WhatIsNotATensorCannotBeEncodedAsOne) {
  EXPECT_THROW(encode_inputs(std::vector{tensor({2, 3}, {1})}), InvalidArgument);
  EXPECT_THROW(encode_inputs(std::vector<Input>{{.kind = Input::Kind::kTensorList, .list = {{.kind = Input::Kind::kInt}}}}),
               InvalidArgument);
}

TEST(Inputs, EveryPrefixOfARowIsMalformed) {
  const std::vector<std::int64_t> words = encode_inputs(every_kind());
  for (std::size_t n = 0; n < words.size(); ++n) {
    EXPECT_THROW(decode_inputs({words.data(), n}), InvalidArgument) << n;
    EXPECT_NE(check_inputs({words.data(), n}, 4000000001u), "") << n;
  }
  EXPECT_EQ(check_inputs(words, 4000000001u), "");
}

TEST(Inputs, HostileWordsAreRefused) {
  const auto refused = [](std::vector<std::int64_t> words) {
    EXPECT_THROW(decode_inputs(words), InvalidArgument);
    EXPECT_NE(check_inputs(words, 10), "");
  };
  refused({-1});
  refused({std::numeric_limits<std::int64_t>::max(), 0});
  refused({1, make_input_header(Input::Kind::kTensor, 0xFFFFFFFF)});
  refused({1, make_input_header(Input::Kind::kTensorList, 1), make_input_header(Input::Kind::kInt), 1});
  refused({1, 0xFF});
  refused({0, 0});
}

TEST(Inputs, SizesWhoseProductOverflowsAreStillDecoded) {
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(
      decode_inputs(std::vector<std::int64_t>{1, make_input_header(Input::Kind::kTensor, 3, ScalarType::kFloat, true), huge, huge, huge})
          .size(),
      1u);
}

TEST(Inputs, ATextMustBeInTheNameTable) {
  const auto words = encode_inputs(std::vector<Input>{{.kind = Input::Kind::kText, .text = 3}});
  EXPECT_EQ(check_inputs(words, 4), "");
  EXPECT_NE(check_inputs(words, 3), "");
}

TEST(Inputs, NamesAreMappedAndNothingElse) {
  std::vector<Input> inputs = every_kind();
  inputs[9].text = 2;
  std::vector<std::int64_t> words = encode_inputs(inputs);
  map_input_names(words, std::vector<NameId>{0, 7, 9});
  inputs[9].text = 9;
  EXPECT_EQ(decode_inputs(words), inputs);
}

}  // namespace
}  // namespace mindtorch::trace
