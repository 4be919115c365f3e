// Modules: the tree of names, modes, hooks, state, and what of it is recorded.
#include "mindtorch/runtime/nn/module.h"

#include "mindtorch/record/session.h"
#include "mindtorch/runtime/nn/nn.h"
#include "tests/runtime/reference.h"

namespace mindtorch::nn {
namespace {

using namespace mindtorch::testing;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Inner : Module {
  Linear linear{2, 3};
  Tensor scale = register_parameter("scale", ones({3}));
  Tensor count = register_buffer("count", zeros({}, {.dtype = kInt64}));
  Tensor scratch = register_buffer("scratch", zeros({2}), false);
  Inner() { register_module("linear", linear); }
  Tensor forward(const Tensor& x) override { return linear(x) * scale; }
};

struct Outer : Module {
  Inner first, second;
  Dropout drop{0.5};
  Outer() { register_module("first", first), register_module("second", second), register_module("drop", drop); }
};

template <class T>
std::vector<std::string> names_of(const std::vector<std::pair<std::string, T>>& items) {
  std::vector<std::string> names;
  for (const auto& [name, item] : items) names.push_back(name);
  return names;
}

TEST(Module, NamesAreThePathsThroughTheTree) {
  Outer model;
  EXPECT_THAT(names_of(model.named_parameters()), ElementsAre("first.scale", "first.linear.weight", "first.linear.bias", "second.scale",
                                                              "second.linear.weight", "second.linear.bias"));
  EXPECT_THAT(names_of(model.named_buffers()), ElementsAre("first.count", "first.scratch", "second.count", "second.scratch"));
  EXPECT_THAT(names_of(model.named_modules()), ElementsAre("", "first", "first.linear", "second", "second.linear", "drop"));
  EXPECT_THAT(names_of(model.named_children()), ElementsAre("first", "second", "drop"));
  EXPECT_EQ(model.type_name(), "Outer");
  EXPECT_EQ(model.first.linear.type_name(), "Linear");
  for (const Tensor& parameter : model.parameters()) EXPECT_TRUE(parameter.requires_grad() && parameter.is_leaf());
}

TEST(Module, ASharedTensorOrModuleIsListedOnce) {
  struct Shared : Module {
    std::shared_ptr<Linear> linear = std::make_shared<Linear>(2, 2);
    Shared() { register_module("a", linear), register_module("b", linear), register_parameter("tied", linear->weight); }
  } model;
  EXPECT_THAT(names_of(model.named_parameters()), ElementsAre("tied", "a.bias"));
  EXPECT_EQ(model.modules().size(), 2u);
}

TEST(Module, TrainAndEvalReachEveryModule) {
  Outer model;
  model.eval();
  for (const Module* module : model.modules()) EXPECT_FALSE(module->is_training());
  model.train();
  for (const Module* module : model.modules()) EXPECT_TRUE(module->is_training());
}

TEST(Module, ApplyVisitsChildrenFirst) {
  Outer model;
  std::vector<std::string> order;
  model.apply([&](Module& module) { order.push_back(module.type_name()); });
  EXPECT_THAT(order, ElementsAre("Linear", "Inner", "Linear", "Inner", "Dropout", "Outer"));
}

TEST(Module, HooksSeeAndReplaceInputsAndOutputs) {
  Inner model;
  const Tensor x = ones({1, 2}), plain = model(x);
  std::vector<std::string> calls;
  const std::uint64_t pre = model.register_forward_pre_hook([&](Module& module, const TensorVector& inputs) {
    calls.push_back("pre " + module.type_name());
    return TensorVector{inputs[0] * 2};
  });
  const std::uint64_t post = model.register_forward_hook([&](Module&, const TensorVector& inputs, const Tensor& output) {
    calls.push_back(fmt::format("post {}", inputs[0].to_vector<double>()[0]));
    return output * 10;
  });
  const Tensor bias = model.linear.bias;
  const Tensor expected = ((plain - bias) * 2 + bias) * 10;
  EXPECT_TRUE(is_close(model(x), expected.to_vector<double>(), 1e-5));
  EXPECT_THAT(calls, ElementsAre("pre Inner", "post 2"));
  model.remove_hook(pre), model.remove_hook(post);
  EXPECT_TRUE(is_close(model(x), plain.to_vector<double>(), 0));
}

TEST(Module, StateGoesToAnotherModelOfTheSameShape) {
  Inner from, to;
  from.count.fill_(7);
  to.load_state_dict(from.state_dict());
  EXPECT_THAT(names_of(from.state_dict()), ElementsAre("scale", "count", "linear.weight", "linear.bias"));
  EXPECT_TRUE(is_close(to.linear.weight, from.linear.weight.to_vector<double>(), 0));
  EXPECT_EQ(to.count.item<int>(), 7);
  EXPECT_FALSE(to.linear.weight.is_same(from.linear.weight));
  EXPECT_TRUE(to.linear.weight.requires_grad() && to.linear.weight.is_leaf());
}

TEST(Module, LoadingNamesEveryProblemAndThenChangesNothing) {
  Inner model;
  const std::vector<double> before = model.linear.weight.to_vector<double>();
  StateDict state = Inner().state_dict();
  state.erase(state.begin());  // scale
  state.emplace_back("linear.extra", ones({1}));
  state[2].second = ones({4});  // linear.bias
  const std::string problems = error_of([&] { model.load_state_dict(state); });
  EXPECT_THAT(problems, HasSubstr("Error(s) in loading state_dict for Inner:"));
  EXPECT_THAT(problems, HasSubstr("Missing key(s) in state_dict: \"scale\". "));
  EXPECT_THAT(problems, HasSubstr("Unexpected key(s) in state_dict: \"linear.extra\". "));
  EXPECT_THAT(
      problems,
      HasSubstr("size mismatch for linear.bias: copying a param with shape [4] from checkpoint, the shape in current model is [3]."));
  EXPECT_THAT(error_of([&] { model.load_state_dict(state, false); }), ::testing::Not(HasSubstr("Missing")));
  EXPECT_EQ(model.linear.weight.to_vector<double>(), before);
  state[2].second = ones({3});
  model.load_state_dict(state, false);
  EXPECT_TRUE(is_close(model.linear.bias, {1, 1, 1}, 0));
}

TEST(Module, ConversionKeepsTheIdentityOfTensors) {
  Inner model;
  model(ones({1, 2})).sum().backward();
  const Tensor weight = model.linear.weight;
  model.to(kFloat64);
  EXPECT_TRUE(weight.is_same(model.linear.weight));
  EXPECT_EQ(weight.dtype(), kFloat64);
  EXPECT_EQ(weight.grad().dtype(), kFloat64);
  EXPECT_EQ(model.count.dtype(), kInt64);
  model.zero_grad();
  model(ones({1, 2}, {.dtype = kFloat64})).sum().backward();
  EXPECT_EQ(weight.grad().dtype(), kFloat64);
  EXPECT_THAT(error_of<TypeMismatch>([&] { model.to(kInt64); }), HasSubstr("only accepts floating point dtypes"));
}

TEST(Module, GradientsCanBeFrozenAndCleared) {
  Inner model;
  model(ones({1, 2})).sum().backward();
  model.zero_grad(false);
  EXPECT_TRUE(is_close(model.scale.grad(), {0, 0, 0}, 0));
  model.zero_grad();
  EXPECT_FALSE(model.scale.grad().defined());
  model.requires_grad_(false);
  EXPECT_FALSE(model(ones({1, 2})).requires_grad());
}

TEST(Module, CallsAreRecordedOnlyIfAskedFor) {
  Inner model;
  for (const bool modules : {true, false}) {
    const auto session = record::Session::prepare({.modules = modules});
    session->start();
    model(ones({1, 2}));
    const trace::Recording recording = session->stop();
    std::vector<std::string> found;
    for (std::size_t i = 0; i < recording.events.size(); ++i)
      if (recording.events.kind[i] == trace::EventKind::kModule) found.push_back(recording.names[recording.events.name[i]]);
    if (modules) {
      ASSERT_EQ(found.size(), 2u);
      EXPECT_THAT(found[0], HasSubstr("nn.Module: Inner_"));
      EXPECT_THAT(found[1], HasSubstr("nn.Module: Linear_"));
    } else {
      EXPECT_TRUE(found.empty());
    }
  }
}

TEST(Module, RefusesWhatTorchRefuses) {
  struct Broken : Module {
    void twice() { register_parameter("a", ones({1})), register_buffer("a", ones({1})); }
    void dotted() { register_parameter("a.b", ones({1})); }
  } model;
  EXPECT_THAT(error_of<InvalidArgument>([&] { model.twice(); }), HasSubstr("attribute 'a' already exists in Broken"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { model.dotted(); }), HasSubstr("can't be empty or contain \".\""));
  EXPECT_THAT(error_of([&] { model(ones({1})); }), HasSubstr("Module [Broken] is missing the required \"forward\" function"));
}

}  // namespace
}  // namespace mindtorch::nn
