// The modules that come with the runtime: their values are torch's.
#include "mindtorch/runtime/nn/nn.h"

#include "tests/runtime/reference.h"

namespace mindtorch::nn {
namespace {

using namespace mindtorch::testing;
using ::testing::HasSubstr;

// cos(step * i + offset) * scale: the same numbers as in the torch program that computed the constants below.
Tensor cosines(IntArrayRef sizes, double step, double offset, double scale) {
  std::vector<double> values(static_cast<std::size_t>(checked_numel(sizes)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::cos(step * static_cast<double>(i) + offset) * scale;
  return tensor<double>(values, sizes, {.dtype = kFloat64});
}

// Parameter k of a model becomes cos(0.7 i + k) / 2.
void fill_parameters(Module& model) {
  NoGradGuard no_grad;
  double offset = 0;
  for (const Tensor& parameter : model.parameters()) parameter.copy_(cosines(parameter.sizes(), 0.7, offset++, 0.5));
}

Tensor sequence_input() { return cosines({2, 3, 4}, 1.3, 0, 1); }
const TensorOptions kDouble{.dtype = kFloat64};

TEST(Nn, LinearWithAndWithoutBias) {
  Linear with(3, 2), without(3, 2, false);
  const Tensor x = test_input({4, 5, 3});
  EXPECT_TRUE(is_close(with(x), (x.reshape({20, 3}).mm(with.weight.t()) + with.bias).to_vector<double>(), 1e-6));
  EXPECT_FALSE(without.bias.defined());
  EXPECT_EQ(without.parameters().size(), 1u);
  EXPECT_TRUE(is_close(without(x), x.reshape({20, 3}).mm(without.weight.t()).to_vector<double>(), 1e-6));
}

TEST(Nn, InitialValuesLieWhereTorchsDo) {
  manual_seed(3);
  const auto bound = [](const Tensor& tensor) {
    double largest = 0;
    for (const double value : tensor.to_vector<double>()) largest = std::max(largest, std::abs(value));
    return largest;
  };
  const Linear linear(100, 200);
  EXPECT_LE(bound(linear.weight), 0.1);
  EXPECT_GT(bound(linear.weight), 0.099);
  EXPECT_LE(bound(linear.bias), 0.1);
  const Conv2d conv(4, 8, 5);
  EXPECT_LE(bound(conv.weight), 0.1);
  EXPECT_GT(bound(conv.weight), 0.09);
  const Embedding table(50, 40, {.padding_idx = -1});
  EXPECT_NEAR(table.weight.to(kFloat64).mean().item<double>(), 0, 0.1);
  EXPECT_EQ(bound(table.weight.select(0, 49)), 0);
  const Tensor square = empty({300, 100});
  EXPECT_LE(bound(init::xavier_uniform_(square, 2)), 2 * std::sqrt(6.0 / 400));
  EXPECT_GT(bound(square), 1.98 * std::sqrt(6.0 / 400));
  const auto deviation = [](const Tensor& tensor) { return std::sqrt((tensor * tensor).mean().item<double>()); };
  EXPECT_NEAR(deviation(init::xavier_normal_(square)), std::sqrt(2.0 / 400), 0.001);
  EXPECT_NEAR(deviation(init::kaiming_normal_(square, 0, init::FanMode::kFanOut, init::Nonlinearity::kRelu)), std::sqrt(2.0 / 300), 0.001);
  EXPECT_THAT(error_of<InvalidArgument>([] { init::xavier_uniform_(ones({3})); }), HasSubstr("fewer than 2 dimensions"));
}

TEST(Nn, TheSameSeedGivesTheSameModel) {
  const auto values = [](std::uint64_t seed) {
    manual_seed(seed);
    return Linear(5, 5).weight.to_vector<float>();
  };
  EXPECT_EQ(values(1), values(1));
  EXPECT_NE(values(1), values(2));
}

TEST(Nn, SequentialCallsItsModulesInOrder) {
  Sequential model;
  model.add<Linear>(2, 3);
  model.add<Tanh>();
  model.add<Flatten>(0);
  const Tensor x = test_input({4, 2});
  auto& linear = dynamic_cast<Linear&>(model[0]);
  EXPECT_TRUE(is_close(model(x), tanh(linear(x)).to_vector<double>(), 0));
  EXPECT_EQ(model(x).sizes().vec(), (std::vector<std::int64_t>{12}));
  EXPECT_EQ(model.named_parameters()[0].first, "0.weight");
  EXPECT_THAT(error_of<OutOfRange>([&] { model[3]; }), HasSubstr("index 3 is out of range: there are 3 modules"));
}

TEST(Nn, ActivationsAreTheirFunctions) {
  const Tensor x = test_input({3, 4});
  const auto same = [&](Module&& module, const Tensor& expected) { return is_close(module(x), expected.to_vector<double>(), 0); };
  EXPECT_TRUE(same(ReLU(), relu(x)));
  EXPECT_TRUE(same(GELU(), gelu(x)));
  EXPECT_TRUE(same(GELU("tanh"), gelu(x, "tanh")));
  EXPECT_TRUE(same(SiLU(), silu(x)));
  EXPECT_TRUE(same(LeakyReLU(0.3), leaky_relu(x, 0.3)));
  EXPECT_TRUE(same(ELU(2), elu(x, 2)));
  EXPECT_TRUE(same(Softplus(2), softplus(x, 2)));
  EXPECT_TRUE(same(Sigmoid(), sigmoid(x)));
  EXPECT_TRUE(same(Softmax(1), softmax(x, 1)));
  EXPECT_TRUE(same(LogSoftmax(0), log_softmax(x, 0)));
  EXPECT_TRUE(same(Identity(), x));
}

TEST(Nn, DropoutOnlyWorksWhileTraining) {
  manual_seed(0);
  Dropout drop(0.25);
  const Tensor x = ones({1000});
  int zeros = 0;
  for (const double value : drop(x).to_vector<double>()) {
    zeros += value == 0;
    EXPECT_TRUE(value == 0 || std::abs(value - 4.0 / 3) < 1e-6) << value;
  }
  EXPECT_NEAR(zeros, 250, 60);
  drop.eval();
  EXPECT_TRUE(is_close(drop(x), x.to_vector<double>(), 0));
  EXPECT_THAT(error_of<InvalidArgument>([] { Dropout(1.5); }), HasSubstr("dropout probability has to be between 0 and 1, but got 1.5"));
}

TEST(Nn, NormsStartAsPlainNormalisation) {
  const Tensor x = test_input({2, 4, 3, 3}, kFloat64);
  EXPECT_TRUE(is_close(LayerNorm({3, 3}, {}, kDouble)(x), layer_norm(x, {3, 3}).to_vector<double>(), 1e-12));
  EXPECT_TRUE(is_close(RMSNorm({3}, {.eps = 1e-6}, kDouble)(x), rms_norm(x, {3}, {}, 1e-6).to_vector<double>(), 1e-12));
  EXPECT_TRUE(is_close(GroupNorm(2, 4, {}, kDouble)(x), group_norm(x, 2).to_vector<double>(), 1e-12));
  EXPECT_TRUE(is_close(BatchNorm2d(4, {}, kDouble)(x), batch_norm(x, {}, {}, {}, {}, true).to_vector<double>(), 1e-12));
  EXPECT_THAT(error_of<InvalidArgument>([] { GroupNorm(3, 4); }), HasSubstr("num_channels (4) must be divisible by num_groups (3)"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { BatchNorm1d(4)(x); }), HasSubstr("expected 2D or 3D input (got 4D input)"));
  EXPECT_THAT(error_of<InvalidArgument>([] { BatchNorm2d(4)(ones({2, 4})); }), HasSubstr("expected 4D input (got 2D input)"));
}

TEST(Nn, BatchNormWithoutMomentumAveragesOverAllBatches) {
  BatchNorm1d norm(3, {.momentum = std::nullopt}, kDouble);
  fill_parameters(norm);
  const Tensor x = sequence_input().select(2, 0);
  Tensor last;
  for (int i = 1; i <= 3; ++i) last = norm(x * i);
  EXPECT_EQ(norm.num_batches_tracked.item<int>(), 3);
  EXPECT_TRUE(is_close(norm.running_mean, {0.00582237481618, 0.0979233454627, 0.0859350649014}, 1e-10));
  EXPECT_TRUE(is_close(norm.running_var, {9.2790702685, 1.64291303703, 3.40440580197}, 1e-10));
  EXPECT_TRUE(is_close(last, {0.770150873532, 0.317997639544, -0.453680299784, -0.229848567664, -0.446842133839, -0.283713415757}, 1e-10));
  norm.eval();
  const std::vector<double> mean = norm.running_mean.to_vector<double>();
  norm(x);
  EXPECT_EQ(norm.running_mean.to_vector<double>(), mean);
}

TEST(Nn, PoolingAndConvolutionModulesPassTheirOptionsOn) {
  const Tensor x = test_input({2, 4, 7, 6}, kFloat64);
  EXPECT_TRUE(
      is_close(MaxPool2d(3, {.stride = 2, .padding = 1, .ceil_mode = true})(x), max_pool2d(x, 3, 2, 1, 1, true).to_vector<double>(), 0));
  EXPECT_TRUE(is_close(MaxPool2d({2, 3})(x), max_pool2d(x, {2, 3}).to_vector<double>(), 0));
  EXPECT_TRUE(
      is_close(AvgPool2d(2, {.padding = 1, .count_include_pad = false})(x), avg_pool2d(x, 2, 2, 1, false, false).to_vector<double>(), 0));
  EXPECT_TRUE(is_close(AdaptiveAvgPool2d({3, 2})(x), adaptive_avg_pool2d(x, {3, 2}).to_vector<double>(), 0));
  Conv2d conv(4, 6, {3, 2}, {.stride = {2, 1}, .padding = 1, .dilation = {1, 2}, .groups = 2, .bias = false}, kDouble);
  EXPECT_TRUE(is_close(conv(x), conv2d(x, conv.weight, {}, {2, 1}, 1, {1, 2}, 2).to_vector<double>(), 0));
  Conv1d conv_1d(4, 2, 3, {.stride = 2, .padding = 1}, kDouble);
  const Tensor signal = test_input({2, 4, 9}, kFloat64);
  EXPECT_TRUE(is_close(conv_1d(signal), conv1d(signal, conv_1d.weight, conv_1d.bias, 2, 1).to_vector<double>(), 0));
  EXPECT_THAT(error_of<InvalidArgument>([] { Conv2d(3, 4, 3, {.groups = 2}); }), HasSubstr("in_channels must be divisible by groups"));
}

TEST(Nn, LossModulesPassTheirOptionsOn) {
  const Tensor x = test_input({4, 3}, kFloat64), y = test_input({4, 3}, kFloat64, 2, 0, 1), labels = tensor({0, 2, 1, 1}),
               w = test_input({3}, kFloat64, 3, 1, 2);
  EXPECT_EQ(MSELoss(Reduction::kSum)(x, y).item<double>(), mse_loss(x, y, Reduction::kSum).item<double>());
  EXPECT_EQ(L1Loss()(x, y).item<double>(), l1_loss(x, y).item<double>());
  EXPECT_EQ(SmoothL1Loss(Reduction::kMean, 0.3)(x, y).item<double>(), smooth_l1_loss(x, y, Reduction::kMean, 0.3).item<double>());
  EXPECT_EQ(BCEWithLogitsLoss(w)(x, y).item<double>(), binary_cross_entropy_with_logits(x, y, w).item<double>());
  EXPECT_EQ(NLLLoss({.weight = w, .ignore_index = 1})(x, labels).item<double>(),
            nll_loss(x, labels, w, Reduction::kMean, 1).item<double>());
  EXPECT_EQ(CrossEntropyLoss({.weight = w, .label_smoothing = 0.1})(x, labels).item<double>(),
            cross_entropy(x, labels, w, Reduction::kMean, -100, 0.1).item<double>());
}

TEST(Nn, MultiheadAttentionIsTorchs) {
  MultiheadAttention attention(4, 2, {.batch_first = true}, kDouble);
  fill_parameters(attention);
  const Tensor x = sequence_input();
  const std::vector<double> expected = {-0.562045329316, -0.453215559053,  -0.0316565012161, -0.0117665562147, -0.592991718597,
                                        -0.426580216955, -0.0509029406859, -0.0021330478187, -0.613454077451,  -0.388842631662,
                                        -0.101554973725, 0.0555803211481,  -0.576400689093,  -0.549420055393,  0.163990910009,
                                        -0.284248783375, -0.539992640738,  -0.581318057312,  0.187692881717,   -0.297015835979,
                                        -0.518433053913, -0.624427938782,  0.247371481741,   -0.366366974913};
  const auto [out, weights] = attention(x, x, x);
  EXPECT_TRUE(is_close(out, expected, 1e-10));
  EXPECT_TRUE(is_close(weights,
                       {0.242717264343, 0.309897249674, 0.447385485983, 0.15610631467, 0.259121581059, 0.584772104271, 0.219876998233,
                        0.286429341142, 0.493693660625, 0.27106334535, 0.332818229621, 0.396118425029, 0.188149258141, 0.29470609779,
                        0.517144644068, 0.284706248694, 0.310459603035, 0.404834148271},
                       1e-10));
  EXPECT_TRUE(is_close(std::get<0>(attention(x, x, x, {.need_weights = false})), expected, 1e-10));
}

TEST(Nn, MultiheadAttentionKeepsToItsMasks) {
  MultiheadAttention attention(4, 2, {.batch_first = true}, kDouble);
  fill_parameters(attention);
  const Tensor x = sequence_input();
  const Tensor later = tensor({false, true, true, false, false, true, false, false, false}).reshape({3, 3});
  const Tensor padding = tensor({false, false, true, false, false, false}).reshape({2, 3});
  const std::vector<double> expected = {-0.534162759218, -0.441381507586, -0.0818396866599, 0.0709668292202, -0.573588220921,
                                        -0.392306659699, -0.134893061044, 0.121868130519,   -0.56562662794,  -0.39733820069,
                                        -0.133372993366, 0.124035188058,  -0.601266482093,  -0.569484944944, 0.226667877405,
                                        -0.382295171677, -0.566671529097, -0.608056735333,  0.264759329658,  -0.415504615889,
                                        -0.518433053913, -0.624427938782, 0.247371481741,   -0.366366974913};
  for (const bool weights : {true, false}) {
    EXPECT_TRUE(is_close(std::get<0>(attention(x, x, x, {.key_padding_mask = padding, .attn_mask = later, .need_weights = weights})),
                         expected, 1e-10));
    EXPECT_TRUE(is_close(std::get<0>(attention(x, x, x, {.key_padding_mask = padding, .need_weights = weights, .is_causal = true})),
                         expected, 1e-10));
  }
  const std::vector<double> masked = std::get<0>(attention(x, x, x, {.attn_mask = later})).to_vector<double>();
  EXPECT_TRUE(is_close(std::get<0>(attention(x, x, x, {.need_weights = false, .is_causal = true})), masked, 1e-12));
}

TEST(Nn, MultiheadAttentionLooksAtAnotherSequence) {
  MultiheadAttention attention(4, 2, {.batch_first = true}, kDouble);
  fill_parameters(attention);
  const Tensor x = sequence_input(), y = cosines({2, 2, 4}, 1, -M_PI / 2, 1);
  EXPECT_TRUE(is_close(std::get<0>(attention(x, y, y, {.need_weights = false})),
                       {-0.692676894737,  -0.414514663118, 0.0260453666977, -0.159203430243, -0.715030562454, -0.39329868959,
                        0.00841870593963, -0.147202936656, -0.648473994463, -0.465154007826, 0.0772695102233, -0.205093150359,
                        -0.641614101465,  -0.348572209903, -0.14928233181,  0.105249465486,  -0.571737726847, -0.412651338859,
                        -0.0984051326819, 0.073453327144,  -0.523089755539, -0.504146246935, 0.0253639889018, -0.0682878276631},
                       1e-10));
  EXPECT_THAT(error_of<InvalidArgument>([] { MultiheadAttention(5, 2); }), HasSubstr("embed_dim (5) must be divisible by num_heads (2)"));
}

TEST(Nn, TransformerEncoderLayerIsTorchs) {
  TransformerEncoderLayer after(4, 2, {.dim_feedforward = 6, .dropout = 0}, kDouble);
  fill_parameters(after);
  EXPECT_TRUE(is_close(
      after(sequence_input()),
      {-0.219816041938, 0.296966733088, 0.165209302378, 0.856142135422, -0.252316157232, 0.311927936809, 0.169310359181, 0.85811285598,
       -0.299135124261, 0.215698862896, 0.159352892453, 0.535800520076, -0.361365016862, 0.187529218972, 0.195366810489, 0.301426721071,
       -0.3189264746,   0.156253628322, 0.234317792577, 0.162283236569, -0.297281791839, 0.14621969001,  0.251801319779, 0.114869621202},
      1e-10));
  TransformerEncoderLayer before(4, 2, {.dim_feedforward = 6, .dropout = 0, .use_gelu = true, .batch_first = true, .norm_first = true},
                                 kDouble);
  fill_parameters(before);
  EXPECT_TRUE(is_close(before(sequence_input()),
                       {1.15494857202,   -0.188238873157, -1.24952690096,  -1.30747819097, 0.558343849548,  0.575029319158,
                        -0.324957931973, -1.59836618434,  -0.573216145142, 0.324206259352, 0.555914650869,  -0.920780857435,
                        -1.01164183195,  -0.668468782417, 0.368967849202,  0.190060936697, -0.283875298974, -1.3871095252,
                        -0.601883456225, 0.410619663305,  0.894487511253,  -1.03090802229, -1.47633566366,  -0.276502797662},
                       1e-10));
}

TEST(Nn, ClipGradNormScalesAllGradientsTogether) {
  const Tensor p = ones({2}, {.dtype = kFloat64, .requires_grad = true}), q = ones({1}, {.dtype = kFloat64, .requires_grad = true});
  const auto reset = [&] {
    p.set_grad(tensor({3.0, -4.0}, kDouble));
    q.set_grad(tensor({12.0}, kDouble));
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
  p.set_grad(tensor({std::nan(""), 1.0}, kDouble));
  EXPECT_THAT(error_of([&] { clip_grad_norm_({p}, 1, 2, true); }), HasSubstr("is non-finite, so it cannot be clipped"));
  EXPECT_EQ(clip_grad_norm_({}, 1).item<double>(), 0);
}

}  // namespace
}  // namespace mindtorch::nn
