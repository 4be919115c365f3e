// Arguments: the encoded row is read in place and agrees with the decoder of trace.
#include "mindtorch/analyze/arguments.h"

#include <gtest/gtest.h>

#include "mindtorch/base/error.h"
#include "mindtorch/trace/tensor_identity.h"

namespace mindtorch::analyze {
namespace {

using trace::Input;

Input tensor(std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides = {}) {
  return {.kind = Input::Kind::kTensor, .dtype = trace::ScalarType::kFloat, .sizes = std::move(sizes), .strides = std::move(strides)};
}

const std::vector<Input> kCall{tensor({2, 3}, {1, 2}),
                               {.kind = Input::Kind::kTensorList, .list = {tensor({4}), tensor({5, 6})}},
                               {.kind = Input::Kind::kInt, .integer = -7},
                               {.kind = Input::Kind::kIntList, .sizes = {1, 2, 3}},
                               {.kind = Input::Kind::kDoubleList, .reals = {0.5}},
                               {.kind = Input::Kind::kNone},
                               {.kind = Input::Kind::kBool, .integer = 1},
                               tensor({})};

TEST(Arguments, EachArgumentPointsAtItsWords) {
  const auto words = trace::encode_inputs(kCall);
  std::vector<Argument> arguments;
  read_arguments(words, arguments);
  ASSERT_EQ(arguments.size(), kCall.size() + 2);
  EXPECT_EQ(std::vector(arguments[0].values.begin(), arguments[0].values.end()), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(arguments[0].strides[1], 2);
  EXPECT_EQ(arguments[1].list_size, 2u);
  EXPECT_EQ(arguments[3].values[1], 6);
  EXPECT_EQ(arguments[4].values[0], -7);
  EXPECT_EQ(arguments[5].values.size(), 3u);
  EXPECT_EQ(arguments[8].values[0], 1);
  EXPECT_EQ(arguments[9].kind, Input::Kind::kTensor);
}

TEST(Arguments, IdentitiesOfTensorsAreNotArguments) {
  std::vector<std::int64_t> words = trace::encode_inputs(kCall);
  std::vector<Argument> arguments;
  trace::add_identities(std::vector<trace::TensorIdentity>(4), words);
  read_arguments(words, arguments);
  EXPECT_EQ(arguments.size(), kCall.size() + 2);
  EXPECT_EQ(input_shapes(words), input_shapes(trace::encode_inputs(kCall)));
  ShapeIds ids;
  EXPECT_EQ(ids.id(words), ids.id(trace::encode_inputs(kCall)));
}

TEST(Arguments, ShapesAreTorchsInputShapes) {
  const Shapes shapes = input_shapes(trace::encode_inputs(kCall));
  EXPECT_EQ(shapes, (Shapes{{2, 3}, {}, {}, {}, {}, {}, {}, {}}));
  EXPECT_EQ(shapes_text(shapes), "[[2, 3], [], [], [], [], [], [], []]");
  EXPECT_EQ(shapes_text({}), "[]");
  EXPECT_TRUE(input_shapes({}).empty());
}

TEST(Arguments, AMalformedRowIsRefused) {
  std::vector<std::int64_t> words = trace::encode_inputs(kCall);
  std::vector<Argument> arguments;
  for (std::size_t length = 1; length < words.size(); ++length) {
    EXPECT_THROW(read_arguments(std::span(words).first(length), arguments), InvalidArgument) << length;
  }
  words = {1, trace::make_input_header(Input::Kind::kTensorList, 1), trace::make_input_header(Input::Kind::kNone)};
  EXPECT_THROW(read_arguments(words, arguments), InvalidArgument);
}

TEST(ShapeIds, EqualShapesHaveOneIdWhateverElseDiffers) {
  ShapeIds ids;
  const auto id = [&](std::vector<Input> inputs) { return ids.id(trace::encode_inputs(inputs)); };
  const auto first = id({tensor({2, 3}), {.kind = Input::Kind::kInt, .integer = 1}});
  EXPECT_EQ(first, id({tensor({2, 3}, {1, 2}), {.kind = Input::Kind::kDouble, .real = 3}}));
  EXPECT_NE(first, id({tensor({2, 3})}));
  EXPECT_NE(first, id({tensor({3, 2}), {.kind = Input::Kind::kInt, .integer = 1}}));
  EXPECT_NE(id({tensor({2}), tensor({3})}), id({tensor({2, 3}), tensor({})}));
  EXPECT_EQ(id({}), ShapeIds::kEmpty);
  EXPECT_EQ(ids.id({}), ShapeIds::kEmpty);
}

}  // namespace
}  // namespace mindtorch::analyze
