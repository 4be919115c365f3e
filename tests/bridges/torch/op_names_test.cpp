// Names of ops: by address where it is remembered, else by text.
#include "mindtorch/bridges/torch/op_names.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mindtorch/record/names.h"

namespace mindtorch::torch_bridge {
namespace {

TEST(OpNames, ANameHasTheIdOfItsText) {
  OpNameCache names;
  const std::string name = "aten::add";
  for (int i = 0; i < 2; ++i) EXPECT_EQ(names.of_text(name.c_str()).id, record::intern(name));
}

TEST(OpNames, NamesThatDifferOnlyBehindTheirBeginningAreToldApart) {
  OpNameCache names;
  std::string text = "aten::a_name_that_is_long_and_ends_in_A";
  for (const char end : {'A', 'B', 'A', 'C'}) {
    text.back() = end;
    EXPECT_EQ(names.of_text(text.c_str()).id, record::intern(text));
  }
}

TEST(OpNames, ThousandsOfNamesKeepTheirIds) {
  OpNameCache names;
  std::vector<std::string> texts;
  for (int i = 0; i < 3000; ++i) texts.push_back("op number " + std::to_string(i));
  for (int round = 0; round < 2; ++round)
    for (const std::string& text : texts) ASSERT_EQ(names.of_text(text.c_str()).id, record::intern(text));
}

TEST(OpNames, AnAddressIsFoundOnceItIsRememberedAndUntilItIsForgotten) {
  OpNameCache names;
  const std::string add = "aten::add", mul = "aten::mul";
  EXPECT_EQ(names.at_address(add.c_str()), nullptr);
  names.remember_address(add.c_str(), names.of_text(add.c_str()));
  ASSERT_NE(names.at_address(add.c_str()), nullptr);
  EXPECT_EQ(names.at_address(add.c_str())->id, record::intern(add));
  EXPECT_EQ(names.at_address(mul.c_str()), nullptr);
  names.forget_addresses();
  EXPECT_EQ(names.at_address(add.c_str()), nullptr);
}

TEST(OpNames, AnAddressNeverFindsTheNameOfAnother) {
  OpNameCache names;
  std::vector<std::string> texts;
  for (int i = 0; i < 3000; ++i) texts.push_back("aten::op_number_" + std::to_string(i));
  for (const std::string& text : texts) names.remember_address(text.c_str(), names.of_text(text.c_str()));
  std::size_t found = 0;
  for (const std::string& text : texts) {
    const OpName* name = names.at_address(text.c_str());
    if (name == nullptr) continue;
    ++found;
    ASSERT_EQ(name->id, record::intern(text));
  }
  EXPECT_GT(found, 500u) << "most places of the cache are in use";
}

TEST(OpNames, TheOperatorsOfAProgramAreAllRemembered) {
  OpNameCache names;
  std::vector<std::string> texts;
  for (int i = 0; i < 100; ++i) texts.push_back("aten::operator_number_" + std::to_string(i));
  for (const std::string& text : texts) names.remember_address(text.c_str(), names.of_text(text.c_str()));
  std::size_t lost = 0;
  for (const std::string& text : texts) lost += names.at_address(text.c_str()) == nullptr ? 1 : 0;
  EXPECT_LE(lost, 2u);
}

TEST(OpNames, EvaluationsAndStepsAreToldFromOtherNames) {
  OpNameCache names;
  const std::string evaluation = "autograd::engine::evaluate_function: AddBackward0", node = "AddBackward0";
  const std::string step = "ProfilerStep#12", optimizer = "Optimizer.step#SGD.step";
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(names.of_text(evaluation.c_str()).is_evaluation);
    EXPECT_FALSE(names.of_text(node.c_str()).is_evaluation);
    EXPECT_TRUE(names.of_text(step.c_str()).is_step);
    EXPECT_FALSE(names.of_text(optimizer.c_str()).is_step);
  }
}

}  // namespace
}  // namespace mindtorch::torch_bridge
