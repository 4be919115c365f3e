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
  EXPECT_EQ(names.find("aten::add").id, record::intern("aten::add"));
  EXPECT_EQ(names.find("aten::add").id, record::intern("aten::add"));
}

TEST(OpNames, AnotherTextAtTheSameAddressIsAnotherName) {
  OpNameCache names;
  char text[64] = "AddBackward0";
  const record::NameId add = names.find(text).id;
  std::string("MulBackward0").copy(text, sizeof(text));
  EXPECT_EQ(names.find(text).id, record::intern("MulBackward0"));
  EXPECT_NE(names.find(text).id, add);
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
  const char* evaluation = "autograd::engine::evaluate_function: AddBackward0";
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(names.find(evaluation).is_evaluation);
    EXPECT_FALSE(names.find("AddBackward0").is_evaluation);
    EXPECT_TRUE(names.find("ProfilerStep#12").is_step);
    EXPECT_FALSE(names.find("Optimizer.step#SGD.step").is_step);
  }
}

}  // namespace
}  // namespace mindtorch::torch_bridge
