// Optimizers: their paths are torch's, step by step; groups, state, and what is recorded.
#include "mindtorch/runtime/optim/optim.h"

#include <cmath>
#include <limits>
#include <memory>

#include "runtime/tests/reference.h"

namespace mindtorch::optim {
namespace {

using namespace mindtorch::testing;
using ::testing::HasSubstr;

using Maker = std::function<std::unique_ptr<Optimizer>(TensorVector)>;
template <class O, class Options>
Maker maker(const Options& options) {
  return [options](TensorVector params) { return std::make_unique<O>(std::move(params), options); };
}

struct Path {
  const char* name;
  Maker make;
  std::vector<double> end;  // after four steps; computed by torch 2.13 in float64
};

const std::vector<Path>& paths() {
  static const std::vector<Path> list = {
      {"SGD", maker<SGD>(SGDOptions{.lr = 0.1}), {0.95255256, -1.83053196, 0.41103605}},
      {"SGD with momentum, dampening, decay",
       maker<SGD>(SGDOptions{.lr = 0.1, .momentum = 0.9, .dampening = 0.3, .weight_decay = 0.05}),
       {0.821070547796875, -1.44066962140625, 0.215553304539062}},
      {"SGD, Nesterov",
       maker<SGD>(SGDOptions{.lr = 0.1, .momentum = 0.9, .nesterov = true}),
       {0.808350389976, -1.333196246916, 0.140656981205}},
      {"SGD, maximising", maker<SGD>(SGDOptions{.lr = 0.1, .momentum = 0.5, .maximize = true}), {1.05109856, -2.16239696, 0.5958098}},
      {"Adam", maker<Adam>(AdamOptions{.lr = 0.1}), {0.76655902847528, -1.7921732998889, 0.279559571908169}},
      {"Adam, amsgrad, decay",
       maker<Adam>(AdamOptions{.lr = 0.1, .weight_decay = 0.1, .amsgrad = true}),
       {0.730238870431722, -1.77401476152853, 0.271562906007031}},
      {"Adam, maximising",
       maker<Adam>(AdamOptions{.lr = 0.05, .beta1 = 0.8, .beta2 = 0.9, .eps = 1e-3, .maximize = true}),
       {1.09481231664223, -2.0954832607973, 0.596693365259514}},
      {"AdamW", maker<AdamW>(AdamWOptions{.lr = 0.1}), {0.762811741400489, -1.78459179446359, 0.278010074034833}},
      {"AdamW, amsgrad",
       maker<AdamW>(AdamWOptions{.lr = 0.1, .weight_decay = 0.3, .amsgrad = true}),
       {0.658611743916908, -1.57459541351156, 0.235309686427909}},
      {"AdamW, maximising",
       maker<AdamW>(AdamWOptions{.lr = 0.1, .maximize = true}),
       {1.188430351493, -2.18997358706867, 0.696958096552754}},
      {"RMSprop", maker<RMSprop>(RMSpropOptions{.lr = 0.1}), {0.425970662601341, -0.592768968309195, -0.570707147773713}},
      {"RMSprop with momentum, decay",
       maker<RMSprop>(RMSpropOptions{.lr = 0.1, .weight_decay = 0.1, .momentum = 0.9}),
       {-1.93114944317686, 2.38103584920445, -3.59840085199068}},
      {"RMSprop, centered",
       maker<RMSprop>(RMSpropOptions{.lr = 0.1, .alpha = 0.9, .momentum = 0.5, .centered = true}),
       {0.164911936268019, -1.18672880805024, -0.315317791512924}},
      {"Adagrad", maker<Adagrad>(AdagradOptions{.lr = 0.1}), {0.870318294991106, -1.86971359394474, 0.371876692107481}},
      {"Adagrad with decays",
       maker<Adagrad>(AdagradOptions{.lr = 0.1, .lr_decay = 0.2, .weight_decay = 0.1, .initial_accumulator_value = 0.5}),
       {0.916647669159168, -1.8784520139059, 0.404469173620238}},
  };
  return list;
}

Tensor start_point() { return tensor({1.0, -2.0, 0.5}, {.dtype = kFloat64, .requires_grad = true}); }

// The gradients of the path above: they depend on where the parameter is, and change sign at step 2.
void take_step(Optimizer& optimizer, const Tensor& param, int t) {
  const Tensor target = tensor({0.3, 0.1 * t, -0.4}, {.dtype = kFloat64});
  param.set_grad((param.detach() * 0.7 - target) * (t == 2 ? -2 : 1));
  optimizer.step();
}

TEST(Optim, FollowsTorchsPath) {
  for (const Path& path : paths()) {
    const Tensor param = start_point();
    const auto optimizer = path.make({param});
    for (int t = 0; t < 4; ++t) take_step(*optimizer, param, t);
    EXPECT_TRUE(is_close(param, path.end, 1e-12)) << path.name;
  }
}

TEST(Optim, SavedStateContinuesThePath) {
  for (const Path& path : paths()) {
    const Tensor param = start_point();
    const auto first = path.make({param});
    for (int t = 0; t < 2; ++t) take_step(*first, param, t);
    const Tensor copy = param.detach().clone().requires_grad_();
    const auto second = path.make({copy});
    second->load_state_dict(first->state_dict());
    for (int t = 2; t < 4; ++t) take_step(*first, param, t);  // must not disturb what was loaded
    for (int t = 2; t < 4; ++t) take_step(*second, copy, t);
    EXPECT_TRUE(is_close(copy, path.end, 1e-12)) << path.name;
  }
}

TEST(Optim, StateDictNamesWhatTorchNames) {
  const Tensor param = start_point();
  Adam optimizer({param}, {.amsgrad = true});
  EXPECT_TRUE(optimizer.state_dict().state.empty());
  take_step(optimizer, param, 0);
  const OptimizerStateDict dict = optimizer.state_dict();
  ASSERT_EQ(dict.param_groups.size(), 1u);
  EXPECT_EQ(dict.param_groups[0].params, (std::vector<std::int64_t>{0}));
  EXPECT_EQ(dict.param_groups[0].options.at("lr"), 1e-3);
  EXPECT_EQ(dict.state.at(0).step, 1);
  std::vector<std::string> names;
  for (const auto& [name, tensor] : dict.state.at(0).tensors) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}));
}

TEST(Optim, GroupsHaveOptionsOfTheirOwn) {
  const Tensor a = ones({2}, {.requires_grad = true}), b = ones({2}, {.requires_grad = true}), c = ones({2}, {.requires_grad = true});
  SGD optimizer({ParamGroup{{a}}, ParamGroup{{b}, {{"lr", 1.0}}}}, {.lr = 0.5});
  optimizer.add_param_group({{c}, {{"lr", 0.25}}});
  for (const Tensor& param : {a, b, c}) param.set_grad(ones({2}));
  optimizer.step();
  EXPECT_TRUE(is_close(a, {0.5, 0.5}, 0));
  EXPECT_TRUE(is_close(b, {0, 0}, 0));
  EXPECT_TRUE(is_close(c, {0.75, 0.75}, 0));
  optimizer.param_groups()[0].options["lr"] = 0.0;
  optimizer.step();
  EXPECT_TRUE(is_close(a, {0.5, 0.5}, 0));
}

TEST(Optim, ParametersWithoutGradientsAreLeftAlone) {
  const Tensor a = ones({2}, {.requires_grad = true}), b = ones({2}, {.requires_grad = true});
  Adam optimizer({a, b}, {.lr = 0.1});
  a.set_grad(ones({2}));
  optimizer.step();
  EXPECT_TRUE(is_close(b, {1, 1}, 0));
  EXPECT_EQ(optimizer.state_dict().state.count(1), 0u);
  optimizer.zero_grad();
  EXPECT_FALSE(a.grad().defined());
}

TEST(Optim, ZeroGradCanKeepTheGradientsMemory) {
  const Tensor a = ones({2}, {.requires_grad = true});
  SGD optimizer({a});
  (a * 3).sum().backward();
  const void* memory = a.grad().data_ptr();
  optimizer.zero_grad(false);
  EXPECT_TRUE(is_close(a.grad(), {0, 0}, 0));
  EXPECT_EQ(a.grad().data_ptr(), memory);
}

TEST(Optim, AStepCountsAsAWriteSoThatAStaleGraphIsNoticed) {
  const Tensor w = ones({2}, {.requires_grad = true}), x = ones({2}, {.requires_grad = true});
  SGD optimizer({w}, {.lr = 0.1});
  const Tensor loss = (w * x).sum();
  loss.backward({}, true);
  optimizer.step();
  EXPECT_THAT(error_of([&] { loss.backward(); }), HasSubstr("has been modified by an inplace operation"));
}

TEST(Optim, AClosureComputesTheLossWithGradients) {
  const Tensor w = ones({2}, {.requires_grad = true});
  SGD optimizer({w}, {.lr = 0.5});
  NoGradGuard no_grad;
  const Tensor loss = optimizer.step([&] {
    const Tensor sum = (w * w).sum();
    sum.backward();
    return sum;
  });
  EXPECT_EQ(loss.item<double>(), 2);
  EXPECT_TRUE(is_close(w, {0, 0}, 0));
}

TEST(Optim, RefusesWhatTorchRefuses) {
  const Tensor w = ones({2}, {.requires_grad = true});
  EXPECT_THAT(error_of<InvalidArgument>([&] { SGD({w}, {.lr = -1}); }), HasSubstr("Invalid learning rate: -1"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { SGD({w}, {.nesterov = true}); }),
              HasSubstr("Nesterov momentum requires a momentum and zero dampening"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { Adam({w}, {.beta2 = 1}); }), HasSubstr("Invalid beta parameter at index 1: 1"));
  EXPECT_THAT(error_of<InvalidArgument>([] { SGD{TensorVector{}}; }), HasSubstr("optimizer got an empty parameter list"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { SGD({w * 2}); }), HasSubstr("can't optimize a non-leaf Tensor"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { SGD({ParamGroup{{w}}, ParamGroup{{w}}}); }), HasSubstr("more than one parameter group"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { SGD({ParamGroup{{w}, {{"beta1", 0.9}}}}); }), HasSubstr("unknown option 'beta1'"));
}

TEST(Optim, LoadingRefusesOtherGroupsAndChangesNothing) {
  const Tensor a = ones({2}, {.requires_grad = true}), b = ones({2}, {.requires_grad = true});
  SGD one({a}, {.lr = 0.5}), two({ParamGroup{{a}}, ParamGroup{{b}}}), wide({a, b});
  EXPECT_THAT(error_of<InvalidArgument>([&] { one.load_state_dict(two.state_dict()); }), HasSubstr("different number of parameter groups"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { one.load_state_dict(wide.state_dict()); }),
              HasSubstr("doesn't match the size of optimizer's group"));
  EXPECT_EQ(one.param_groups()[0].options["lr"], 0.5);
  one.load_state_dict({});
  EXPECT_EQ(one.param_groups()[0].options["lr"], 0.5);
}

TEST(Optim, ClipGradNormScalesAllGradientsTogether) {
  const Tensor p = ones({2}, {.dtype = kFloat64, .requires_grad = true}), q = ones({1}, {.dtype = kFloat64, .requires_grad = true});
  const auto reset = [&] {
    p.set_grad(tensor({3.0, -4.0}, TensorOptions{.dtype = kFloat64}));
    q.set_grad(tensor({12.0}, TensorOptions{.dtype = kFloat64}));
  };
  reset();
  EXPECT_EQ(clip_grad_norm_({p, q}, 2).item<double>(), 13);
  EXPECT_TRUE(is_close(p.grad(), {0.46153842603550577, -0.615384568047341}, 1e-15));
  EXPECT_TRUE(is_close(q.grad(), {1.846153704142023}, 1e-15));
  reset();
  EXPECT_EQ(clip_grad_norm_({p}, 2, std::numeric_limits<double>::infinity()).item<double>(), 4);
  EXPECT_TRUE(is_close(p.grad(), {1.4999996250000938, -1.999999500000125}, 1e-15));
  reset();
  EXPECT_EQ(clip_grad_norm_({p}, 20, 1).item<double>(), 7);
  EXPECT_TRUE(is_close(p.grad(), {3, -4}, 0));
  p.set_grad(tensor({std::nan(""), 1.0}, TensorOptions{.dtype = kFloat64}));
  EXPECT_THAT(error_of([&] { clip_grad_norm_({p}, 1, 2, true); }), HasSubstr("is non-finite, so it cannot be clipped"));
  EXPECT_EQ(clip_grad_norm_({}, 1).item<double>(), 0);
}

}  // namespace
}  // namespace mindtorch::optim
