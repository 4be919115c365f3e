// Names of ops: the address finds them, the text decides.
#include "mindtorch/bridges/torch/op_names.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "mindtorch/record/names.h"

namespace mindtorch::torch_bridge {
namespace {

TEST(OpNames, ANameHasTheIdOfItsText) {
  OpNameCache names;
  const std::string name = "aten::add";
  for (int i = 0; i < 2; ++i) EXPECT_EQ(names.find(name.c_str()).id, record::intern(name));
}

TEST(OpNames, AnotherTextAtTheSameAddressIsAnotherName) {
  OpNameCache names;
  char text[64] = "AddBackward0";
  const record::NameId add = names.find(text).id;
  std::string("MulBackward0").copy(text, sizeof(text));
  EXPECT_EQ(names.find(text).id, record::intern("MulBackward0"));
  EXPECT_NE(names.find(text).id, add);
}

TEST(OpNames, NamesThatDifferOnlyBehindTheirBeginningAreToldApart) {
  OpNameCache names;
  std::string text = "aten::a_name_that_is_long_and_ends_in_A";
  for (const char end : {'A', 'B', 'A', 'C'}) {
    text.back() = end;
    EXPECT_EQ(names.find(text.c_str()).id, record::intern(text));
  }
}

TEST(OpNames, ThousandsOfNamesKeepTheirIds) {
  OpNameCache names;
  std::vector<std::string> texts;
  for (int i = 0; i < 3000; ++i) texts.push_back("op number " + std::to_string(i));
  for (int round = 0; round < 2; ++round)
    for (const std::string& text : texts) ASSERT_EQ(names.find(text.c_str()).id, record::intern(text));
}

TEST(OpNames, EvaluationsAndStepsAreToldFromOtherNames) {
  OpNameCache names;
  const std::string evaluation = "autograd::engine::evaluate_function: AddBackward0", node = "AddBackward0";
  const std::string step = "ProfilerStep#12", optimizer = "Optimizer.step#SGD.step";
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(names.find(evaluation.c_str()).is_evaluation);
    EXPECT_FALSE(names.find(node.c_str()).is_evaluation);
    EXPECT_TRUE(names.find(step.c_str()).is_step);
    EXPECT_FALSE(names.find(optimizer.c_str()).is_step);
  }
}

}  // namespace
}  // namespace mindtorch::torch_bridge
