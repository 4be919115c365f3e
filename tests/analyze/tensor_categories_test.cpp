// Categories of tensors: a training step, and what is found without modules and optimizers.
#include "mindtorch/analyze/tensor_categories.h"

#include <gtest/gtest.h>

#include <map>

#include "mindtorch/analyze/tensor_ids.h"
#include "tests/analyze/flow_recordings.h"

namespace mindtorch::analyze {
namespace {

using Category = trace::MemoryCategory;

constexpr std::uint64_t kData = 0x10, kWeight = 0x20, kProduct = 0x30, kHelp = 0x40, kLoss = 0x50, kSeed = 0x60, kGradient = 0x70,
                        kMomentum = 0x80, kDetail = 0x90;

// One step: loss = sum(weight * data); the gradient of the weight; momentum; the weight is written.
void add_step(FlowMaker& make) {
  make.call("aten::mm", 10, {kData, kWeight}, 10);
  make.make(11, kProduct);
  make.make(12, kHelp);
  make.call("aten::neg", 13, {kHelp});
  make.free(14, kHelp);
  make.call("aten::sum", 30, {kProduct}, 5);
  make.make(31, kLoss);
  make.call("aten::ones_like", 40, {kLoss}, 5);
  make.make(41, kSeed);
  make.node("SumBackward0", 50, {kSeed}, 10);
  make.make(52, kDetail);
  make.call("aten::expand", 53, {kSeed, kDetail});
  make.node("MmBackward0", 70, {kDetail}, 10);
  make.call("aten::t", 71, {kData, kDetail});
  make.make(72, kGradient);
  make.node("torch::autograd::AccumulateGrad", 85, {kGradient}, 5);
  make.call("aten::detach", 86, {kGradient});
  make.call("aten::add_", 100, {kMomentum, kGradient});
  make.call("aten::add_", 110, {kWeight, kMomentum});
}

// The category of each address at its first version.
std::map<std::uint64_t, Category> categories(FlowMaker& make) {
  const trace::Recording recording = make.finish();
  const Analysis analysis(recording);
  const DataFlow flow(analysis);
  const TensorCategories found(flow);
  const TensorIds ids(recording);
  std::map<std::uint64_t, Category> first;
  for (const trace::EventIndex event : recording.inputs.events) {
    const auto identities = trace::tensor_identities(recording.inputs.find(event));
    const auto numbers = ids.of_inputs(event);
    for (std::size_t i = 0; i < identities.size(); ++i)
      first.try_emplace(identities[i].storage, found.of(static_cast<std::uint32_t>(numbers[i].allocation), 0));
  }
  return first;
}

TEST(TensorCategories, ATrainingStepHasAllOfThem) {
  FlowMaker make;
  make.module_call(5, kWeight);
  add_step(make);
  make.optimizer_step(99, kWeight, kMomentum);
  const auto found = categories(make);
  EXPECT_EQ(found.at(kData), Category::kInput);
  EXPECT_EQ(found.at(kWeight), Category::kParameter);
  EXPECT_EQ(found.at(kProduct), Category::kActivation);
  EXPECT_EQ(found.at(kHelp), Category::kTemporary);
  EXPECT_EQ(found.at(kLoss), Category::kActivation);
  EXPECT_EQ(found.at(kDetail), Category::kAutogradDetail);
  EXPECT_EQ(found.at(kGradient), Category::kGradient);
  EXPECT_EQ(found.at(kMomentum), Category::kOptimizerState);
}

TEST(TensorCategories, ParametersAreFoundByWhatIsDoneWithThem) {
  FlowMaker make;
  add_step(make);
  const auto found = categories(make);
  EXPECT_EQ(found.at(kWeight), Category::kParameter);
  EXPECT_EQ(found.at(kData), Category::kInput);
  EXPECT_EQ(found.at(kMomentum), Category::kUnknown) << "only the optimizer tells";
}

TEST(TensorCategories, AForwardPassHasParametersInputsAndActivations) {
  FlowMaker make;
  make.module_call(5, kWeight, kGradient);
  make.call("aten::mm", 10, {kData, kWeight}, 10);
  make.make(11, kProduct);
  make.call("aten::relu", 30, {kProduct});
  make.call("aten::sin", 40, {kDetail});
  const auto found = categories(make);
  EXPECT_EQ(found.at(kWeight), Category::kParameter);
  EXPECT_EQ(found.at(kGradient), Category::kGradient);
  EXPECT_EQ(found.at(kDetail), Category::kUnknown) << "no parameter is computed with";
}

TEST(TensorCategories, AVersionHasACategoryOfItsOwn) {
  FlowMaker make;
  make.module_call(5, kWeight);
  make.call("aten::empty_like", 6, {kData}, 2);
  make.make(7, kProduct);
  make.call("aten::copy_", 10, {kProduct, kData});
  make.call("aten::mm", 20, {kProduct, kWeight});
  const trace::Recording recording = make.finish();
  const Analysis analysis(recording);
  const DataFlow flow(analysis);
  const TensorCategories found(flow);
  const auto number = static_cast<std::uint32_t>(TensorIds(recording).of_report(0).allocation);
  EXPECT_EQ(flow.allocations()[number].last_version, 1u);
  EXPECT_EQ(found.of(number, 1), Category::kInput);
}

}  // namespace
}  // namespace mindtorch::analyze
