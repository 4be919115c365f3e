// Arguments of ops in the Chakra schema, as torch's observer writes the same arguments.
#include "mindtorch/export/chakra/chakra_values.h"

#include <gmock/gmock.h>

#include <limits>

#include "mindtorch/base/text.h"
#include "mindtorch/trace/builder.h"
#include "mindtorch/trace/inputs.h"

namespace mindtorch::exporter::chakra {
namespace {

using trace::Input;
using trace::ScalarType;

ValueLists lists_of(const std::vector<Input>& inputs, trace::Device device = {}, std::vector<trace::TensorIdentity> identities = {}) {
  trace::RecordingBuilder builder;
  builder.add_thread(1);
  builder.set_inputs(builder.add_event({.name = "op"}), inputs);
  trace::Recording recording = builder.finish();
  if (!identities.empty()) {
    std::vector<std::int64_t> words = trace::encode_inputs(inputs);
    trace::add_identities(identities, words);
    recording.inputs = {};
    recording.inputs.add(0, words);
  }
  TensorNumbers numbers(recording);
  numbers.begin(0);
  ValueLists lists;
  append_inputs(recording.inputs.find(0), {"", "mean"}, device, numbers, lists);
  EXPECT_TRUE(is_json(to_json(lists))) << to_json(lists);
  return lists;
}

Input tensor(std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides, ScalarType dtype = ScalarType::kFloat) {
  return {.kind = Input::Kind::kTensor, .dtype = dtype, .sizes = std::move(sizes), .strides = std::move(strides)};
}

TEST(ChakraValues, ATensorHasSixValuesItsShapeItsTypeAndItsStrides) {
  const ValueLists lists = lists_of({tensor({4, 2}, {1, 4})});
  EXPECT_EQ(lists.values, R"([0,0,0,8,4,"cpu"])");
  EXPECT_EQ(lists.shapes, "[4,2]");
  EXPECT_EQ(lists.types, "\"Tensor(float)\"");
  EXPECT_EQ(lists.strides, "[1,4]");
}

TEST(ChakraValues, ATensorSaysWhereItLives) {
  EXPECT_EQ(lists_of({tensor({}, {}, ScalarType::kInt64)}, {trace::DeviceType::kNpu, 1}).values, R"([0,0,0,1,8,"npu:1"])");
  EXPECT_EQ(lists_of({tensor({0}, {1}, ScalarType::kBool)}, {trace::DeviceType::kCuda, 0}).values, R"([0,0,0,0,1,"cuda:0"])");
}

TEST(ChakraValues, ATensorOfKnownIdentityHasItsIdsItsOffsetAndItsDevice) {
  const trace::Device npu{trace::DeviceType::kNpu, 2};
  const trace::TensorIdentity first{.tensor = 0x10, .storage = 0x1000, .device = npu};
  const trace::TensorIdentity view{.tensor = 0x20, .storage = 0x1000, .offset = 1, .device = npu};
  const trace::TensorIdentity other{.tensor = 0x30, .storage = 0x2000, .device = npu};
  const std::vector<Input> inputs{tensor({2}, {1}), tensor({1}, {1}), tensor({3}, {1}), tensor({2}, {1})};
  EXPECT_EQ(lists_of(inputs, {}, {first, view, other, first}).values,
            R"([1,1,0,2,4,"npu:2"],[2,1,1,1,4,"npu:2"],[3,2,0,3,4,"npu:2"],[1,1,0,2,4,"npu:2"])");
}

TEST(ChakraValues, AListRepeatsItsFormInEveryPlace) {
  Input tensors{.kind = Input::Kind::kTensorList};
  tensors.list = {tensor({3, 2}, {2, 1}), tensor({3}, {1})};
  const ValueLists lists = lists_of({tensors,
                                     {.kind = Input::Kind::kIntList, .sizes = {4, 2}},
                                     {.kind = Input::Kind::kIntList},
                                     {.kind = Input::Kind::kBoolList, .sizes = {1, 0}}});
  EXPECT_EQ(lists.values, R"([[0,0,0,6,4,"cpu"],[0,0,0,3,4,"cpu"]],[4,2],[],[true,false])");
  EXPECT_EQ(lists.shapes, "[[3,2],[3]],[[],[]],[],[[],[]]");
  EXPECT_EQ(lists.types, R"("GenericList[Tensor(float),Tensor(float)]","GenericList[Int,Int]","GenericList[]","GenericList[Bool,Bool]")");
  EXPECT_EQ(lists.strides, "[[2,1],[1]],[[],[]],[],[[],[]]");
}

TEST(ChakraValues, ScalarsHaveNoShape) {
  const ValueLists lists = lists_of({{.kind = Input::Kind::kInt, .integer = -3},
                                     {.kind = Input::Kind::kBool, .integer = 1},
                                     {.kind = Input::Kind::kDouble, .real = 0.5},
                                     {.kind = Input::Kind::kText, .text = 1},
                                     {.kind = Input::Kind::kNone},
                                     {.kind = Input::Kind::kOther}});
  EXPECT_EQ(lists.values, R"(-3,true,0.5,"mean","<None>","<Other>")");
  EXPECT_EQ(lists.shapes, "[],[],[],[],[],[]");
  EXPECT_EQ(lists.types, R"("Int","Bool","Double","String","None","Other")");
}

TEST(ChakraValues, NumbersThatJsonLacksAreTexts) {
  EXPECT_EQ(lists_of({{.kind = Input::Kind::kDouble, .real = -std::numeric_limits<double>::infinity()}}).values, R"("-inf")");
}

TEST(ChakraValues, ListsAreCutWhereTorchCutsThem) {
  const ValueLists lists = lists_of({{.kind = Input::Kind::kIntList, .sizes = std::vector<std::int64_t>(5000, 1)}});
  EXPECT_EQ(std::count(lists.values.begin(), lists.values.end(), '1'), 4096);
}

}  // namespace
}  // namespace mindtorch::exporter::chakra
