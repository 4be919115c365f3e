// batch_norm and group_norm against references in double, and their derivatives.
#include "mindtorch/runtime/ops/channel_norm.h"

#include "runtime/tests/reference.h"

namespace mindtorch {
namespace {

using namespace mindtorch::testing;
using ::testing::HasSubstr;

struct Moments {
  std::vector<double> mean, var;  // one for each group
};

// y = (x - mean) / sqrt(var + eps) * weight + bias, where group_of(n, c) says which elements of [batch, channels, inner] share their
// moments.
std::vector<double> naive_norm(const std::vector<double>& x, IntArrayRef sizes, std::size_t groups,
                               const std::function<std::size_t(std::int64_t, std::int64_t)>& group_of, const std::vector<double>& weight,
                               const std::vector<double>& bias, double eps, Moments* moments) {
  const std::int64_t batch = sizes[0], channels = sizes[1];
  const std::int64_t inner = batch * channels == 0 ? 0 : static_cast<std::int64_t>(x.size()) / (batch * channels);
  const auto each = [&](const auto& f) {
    for (std::int64_t n = 0; n < batch; ++n)
      for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t i = 0; i < inner; ++i)
          f(static_cast<std::size_t>((n * channels + c) * inner + i), group_of(n, c), static_cast<std::size_t>(c));
  };
  if (moments->mean.empty()) {
    std::vector<double> count(groups);
    moments->mean.assign(groups, 0);
    moments->var.assign(groups, 0);
    each([&](std::size_t at, std::size_t g, std::size_t) { moments->mean[g] += x[at], count[g] += 1; });
    for (std::size_t g = 0; g < groups; ++g) moments->mean[g] /= count[g];
    each([&](std::size_t at, std::size_t g, std::size_t) {
      moments->var[g] += (x[at] - moments->mean[g]) * (x[at] - moments->mean[g]) / count[g];
    });
  }
  std::vector<double> y(x.size());
  each([&](std::size_t at, std::size_t g, std::size_t c) {
    y[at] = (x[at] - moments->mean[g]) / std::sqrt(moments->var[g] + eps) * weight[c] + bias[c];
  });
  return y;
}

const std::vector<std::vector<std::int64_t>> kShapes = {{6, 4}, {5, 4, 7}, {3, 4, 5, 6}, {2, 4, 40, 41}};

TEST(BatchNorm, TrainingUsesTheBatchAndMovesTheRunningMoments) {
  for (const std::vector<std::int64_t>& sizes : kShapes)
    for (const ScalarType type : {kFloat32, kFloat64}) {
      const Tensor x = test_input(sizes, type), weight = test_input({4}, type, 2), bias = test_input({4}, type, 3);
      const Tensor running_mean = test_input({4}, type, 4), running_var = test_input({4}, type, 5, 0.5, 2);
      const std::vector<double> old_mean = running_mean.to_vector<double>(), old_var = running_var.to_vector<double>();
      Moments moments;
      const std::vector<double> expected = naive_norm(
          x.to_vector<double>(), sizes, 4, [](std::int64_t, std::int64_t c) { return static_cast<std::size_t>(c); },
          weight.to_vector<double>(), bias.to_vector<double>(), 1e-3, &moments);
      const std::uint32_t version = running_mean.version();
      EXPECT_TRUE(is_close(batch_norm(x, weight, bias, running_mean, running_var, true, 0.3, 1e-3), expected, 5 * tolerance_of(type)));
      EXPECT_TRUE(is_close(batch_norm(strided_copy(x), weight, bias, {}, {}, true, 0.3, 1e-3), expected, 5 * tolerance_of(type)));
      EXPECT_GT(running_mean.version(), version);
      const double count = static_cast<double>(x.numel()) / 4;
      std::vector<double> new_mean(4), new_var(4);
      for (std::size_t c = 0; c < 4; ++c) {
        new_mean[c] = 0.7 * old_mean[c] + 0.3 * moments.mean[c];
        new_var[c] = 0.7 * old_var[c] + 0.3 * moments.var[c] * count / (count - 1);
      }
      EXPECT_TRUE(is_close(running_mean, new_mean, tolerance_of(type)));
      EXPECT_TRUE(is_close(running_var, new_var, tolerance_of(type)));
    }
}

TEST(BatchNorm, EvaluationUsesTheRunningMomentsAndLeavesThemAlone) {
  for (const std::vector<std::int64_t>& sizes : kShapes) {
    const Tensor x = test_input(sizes), weight = test_input({4}, kFloat32, 2), bias = test_input({4}, kFloat32, 3);
    const Tensor mean = test_input({4}, kFloat32, 4), var = test_input({4}, kFloat32, 5, 0.5, 2);
    Moments moments{mean.to_vector<double>(), var.to_vector<double>()};
    const std::vector<double> expected = naive_norm(
        x.to_vector<double>(), sizes, 4, [](std::int64_t, std::int64_t c) { return static_cast<std::size_t>(c); },
        weight.to_vector<double>(), bias.to_vector<double>(), 1e-5, &moments);
    const std::uint32_t version = mean.version();
    EXPECT_TRUE(is_close(batch_norm(x, weight, bias, mean, var, false), expected, 4e-6));
    EXPECT_EQ(mean.version(), version);
  }
}

TEST(BatchNorm, DerivativesMatchFiniteDifferencesInBothModes) {
  const Tensor mean = test_input({3}, kFloat64, 4), var = test_input({3}, kFloat64, 5, 0.5, 2);
  for (const std::vector<std::int64_t>& sizes : std::vector<std::vector<std::int64_t>>{{4, 3}, {2, 3, 2}, {2, 3, 2, 2}})
    for (const bool training : {true, false}) {
      const TensorVector inputs = {gradcheck_input(sizes, 1), gradcheck_input({3}, 2), gradcheck_input({3}, 3)};
      const auto running = [&](const Tensor& moments) { return training ? Tensor() : moments; };
      EXPECT_TRUE(gradcheck_twice(
          [&](const TensorVector& in) { return batch_norm(in[0], in[1], in[2], running(mean), running(var), training); }, inputs));
      EXPECT_TRUE(gradcheck_twice([&](const TensorVector& in) { return batch_norm(in[0], {}, {}, running(mean), running(var), training); },
                                  {inputs[0]}));
    }
}

TEST(GroupNorm, MatchesTheReference) {
  for (const std::vector<std::int64_t>& sizes : kShapes)
    for (const std::int64_t groups : {1, 2, 4}) {
      const Tensor weight = test_input({4}, kFloat32, 2), bias = test_input({4}, kFloat32, 3);
      if (groups == 4 && sizes.size() == 2) continue;  // one element a group: the variance is 0 and rounding is all there is
      expect_matches([&](const Tensor& x) { return group_norm(x, groups, weight.to(x.dtype()), bias.to(x.dtype()), 1e-3); },
                     [&](const auto& x, IntArrayRef shape) {
                       Moments moments;
                       return naive_norm(
                           x, shape, static_cast<std::size_t>(shape[0] * groups),
                           [&](std::int64_t n, std::int64_t c) { return static_cast<std::size_t>(n * groups + c * groups / 4); },
                           weight.to_vector<double>(), bias.to_vector<double>(), 1e-3, &moments);
                     },
                     sizes);
    }
}

TEST(GroupNorm, DerivativesMatchFiniteDifferences) {
  for (const std::int64_t groups : {1, 2}) {
    const TensorVector inputs = {gradcheck_input({2, 4, 3}, 1), gradcheck_input({4}, 2), gradcheck_input({4}, 3)};
    EXPECT_TRUE(gradcheck_twice([&](const TensorVector& in) { return group_norm(in[0], groups, in[1], in[2]); }, inputs));
    EXPECT_TRUE(gradcheck_twice([&](const TensorVector& in) { return group_norm(in[0], groups); }, {inputs[0]}));
  }
}

TEST(ChannelNorm, BackwardNodesHaveTorchsNames) {
  EXPECT_EQ(node_name(batch_norm(gradcheck_input({2, 3}), {}, {}, {}, {}, true)), "NativeBatchNormBackward0");
  EXPECT_EQ(node_name(group_norm(gradcheck_input({2, 4}), 2)), "NativeGroupNormBackward0");
}

TEST(ChannelNorm, RefusesWhatTorchRefuses) {
  EXPECT_THAT(error_of<InvalidArgument>([] {
                batch_norm(ones({1, 3}), {}, {}, {}, {}, true);
              }),
              HasSubstr("Expected more than 1 value per channel when training, got input size [1, 3]"));
  EXPECT_THAT(error_of([] {
                batch_norm(ones({2, 3}), {}, {}, ones({4}), ones({4}), true);
              }),
              HasSubstr("running_mean should contain 3 elements not 4"));
  EXPECT_THAT(error_of([] { batch_norm(ones({2, 3}), {}, {}, {}, {}, false); }), HasSubstr("must be defined in evaluation mode"));
  EXPECT_THAT(error_of([] { batch_norm(ones({3}), {}, {}, {}, {}, true); }), HasSubstr("at least two dimensions"));
  EXPECT_THAT(
      error_of([] {
        group_norm(ones({2, 3}), 2);
      }),
      HasSubstr("Expected number of channels in input to be divisible by num_groups, but got input of shape [2, 3] and num_groups=2"));
  EXPECT_THAT(error_of([] { group_norm(ones({2, 4}), 2, ones({3})); }), HasSubstr("weight should contain 4 elements not 3"));
}

}  // namespace
}  // namespace mindtorch
