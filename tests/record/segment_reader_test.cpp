// Reading segments: ids of one recording, and texts inside arguments.
#include "mindtorch/record/segment_reader.h"

#include <gmock/gmock.h>

#include "mindtorch/record/names.h"
#include "mindtorch/trace/inputs.h"

namespace mindtorch::record {
namespace {

using testing::ElementsAre;

class IdMapsTest : public testing::Test {
 protected:
  std::vector<std::string> names_{""};
  trace::Stacks stacks_;
  IdMaps ids_{names_, stacks_, nullptr};
};

TEST_F(IdMapsTest, NamesAreNumberedInOrderOfFirstUse) {
  const NameId b = intern("segment reader b"), a = intern("segment reader a");
  EXPECT_EQ(ids_.name(a), 1u);
  EXPECT_EQ(ids_.name(b), 2u);
  EXPECT_EQ(ids_.name(a), 1u);
  EXPECT_EQ(ids_.name(std::string_view("segment reader b")), 2u) << "a text and the id of it are one name";
  EXPECT_THAT(names_, ElementsAre("", "segment reader a", "segment reader b"));
}

TEST_F(IdMapsTest, TextsInsideArgumentsGetTheRecordingsIds) {
  using Kind = trace::Input::Kind;
  std::vector<trace::Input> inputs(7);
  inputs[0] = {.kind = Kind::kTensor, .dtype = trace::ScalarType::kFloat, .sizes = {2, 3}, .strides = {1, 2}};
  inputs[1] = {.kind = Kind::kText, .text = intern("segment reader text")};
  inputs[2] = {.kind = Kind::kTensorList, .list = {inputs[0], inputs[0]}};
  inputs[3] = {.kind = Kind::kIntList, .sizes = {7, 8, 9}};
  inputs[4] = {.kind = Kind::kText, .text = intern("segment reader other")};
  inputs[5] = {.kind = Kind::kDouble, .real = 0.25};
  inputs[6] = {.kind = Kind::kBoolList, .sizes = {1, 0}};
  const std::vector<std::int64_t> words = trace::encode_inputs(inputs);
  const std::vector<trace::Input> read = trace::decode_inputs(ids_.inputs(words));
  EXPECT_EQ(names_[read[1].text], "segment reader text");
  EXPECT_EQ(names_[read[4].text], "segment reader other");
  inputs[1].text = read[1].text;
  inputs[4].text = read[4].text;
  EXPECT_EQ(read, inputs);
}

TEST_F(IdMapsTest, ArgumentsWithoutTextAreNotCopied) {
  const std::vector<std::int64_t> words = trace::encode_inputs(std::vector<trace::Input>{{.kind = trace::Input::Kind::kInt, .integer = 4}});
  EXPECT_EQ(ids_.inputs(words).data(), words.data());
}

TEST_F(IdMapsTest, EqualStacksAreOneEvenWithoutAProvider) {
  const std::int64_t words[] = {1, 2};
  EXPECT_EQ(ids_.stack(words), ids_.stack(words));
}

}  // namespace
}  // namespace mindtorch::record
