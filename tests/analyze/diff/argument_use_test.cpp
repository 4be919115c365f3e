// Argument use: types and shapes as texts, and what two runs differ in.
#include "mindtorch/analyze/diff/argument_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mindtorch/trace/inputs.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

trace::Input tensor(trace::ScalarType dtype, std::vector<std::int64_t> sizes) {
  return {.kind = trace::Input::Kind::kTensor, .dtype = dtype, .sizes = std::move(sizes)};
}

ArgumentUse use_of(const std::vector<std::vector<trace::Input>>& calls) {
  ArgumentReader reader;
  ArgumentUse use;
  for (const auto& inputs : calls) reader.add(trace::encode_inputs(inputs), 10, use);
  return use;
}

TEST(ArgumentUse, AddsUpTheTimeOfEachSetOfTypesAndShapes) {
  const trace::Input floats = tensor(trace::ScalarType::kFloat, {2, 3}), indices = tensor(trace::ScalarType::kInt64, {3});
  const ArgumentUse use = use_of({{floats, floats}, {floats, floats}, {floats, indices}});
  EXPECT_THAT(use.types, ElementsAre(Pair("float32", 20), Pair("float32, int64", 10)));
  EXPECT_THAT(use.shapes, ElementsAre(Pair("[[2, 3], [2, 3]]", 20), Pair("[[2, 3], [3]]", 10)));
}

TEST(ArgumentUse, LeavesOutCallsWithoutTensors) {
  const trace::Input number{.kind = trace::Input::Kind::kInt, .integer = 3};
  EXPECT_THAT(use_of({{number}}).types, IsEmpty());
}

TEST(ArgumentUse, NamesTheTypeThatReplacedAnother) {
  const ArgumentUse before = use_of({{tensor(trace::ScalarType::kFloat, {2})}}),
                    after = use_of({{tensor(trace::ScalarType::kDouble, {2})}});
  EXPECT_THAT(argument_changes(before, after), ElementsAre("float32 → float64"));
  EXPECT_THAT(argument_changes(before, before), IsEmpty());
}

TEST(ArgumentUse, NamesShapesThatOnlyOneRunHas) {
  const trace::Input small = tensor(trace::ScalarType::kFloat, {2}), large = tensor(trace::ScalarType::kFloat, {64});
  EXPECT_THAT(argument_changes(use_of({{small}}), use_of({{small}, {large}})), ElementsAre("new: [[64]]"));
  EXPECT_THAT(argument_changes(use_of({{small}, {large}}), use_of({{small}})), ElementsAre("gone: [[64]]"));
}

TEST(ArgumentUse, SaysNothingWhereOneRunHasNoArguments) {
  EXPECT_THAT(argument_changes({}, use_of({{tensor(trace::ScalarType::kFloat, {2})}})), IsEmpty());
}

}  // namespace
}  // namespace mindtorch::analyze
