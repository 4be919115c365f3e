// layer_norm and rms_norm against references in double, and their derivatives.
#include "mindtorch/runtime/ops/layer_norm.h"

#include "mindtorch/runtime/parallel.h"
#include "runtime/tests/reference.h"

namespace mindtorch {
namespace {

using namespace mindtorch::testing;
using ::testing::HasSubstr;

// Rows of `width`; without weight and bias where they are empty.
std::vector<double> naive_norm(std::vector<double> x, std::size_t width, const std::vector<double>& weight, const std::vector<double>& bias,
                               double eps, bool centred) {
  for (std::size_t row = 0; row + width <= x.size() && width > 0; row += width) {
    double mean = 0, squares = 0;
    for (std::size_t c = 0; c < width && centred; ++c) mean += x[row + c] / static_cast<double>(width);
    for (std::size_t c = 0; c < width; ++c) squares += (x[row + c] - mean) * (x[row + c] - mean);
    for (std::size_t c = 0; c < width; ++c)
      x[row + c] = (x[row + c] - mean) / std::sqrt(squares / static_cast<double>(width) + eps) * (weight.empty() ? 1 : weight[c]) +
                   (bias.empty() ? 0 : bias[c]);
  }
  return x;
}

struct Shape {
  std::vector<std::int64_t> sizes, normalized;
};
const std::vector<Shape>& shapes() {
  static const std::vector<Shape> list = {{{5}, {5}},          {{3, 7}, {7}},      {{2, 3, 33}, {33}},
                                          {{4, 2, 6}, {2, 6}}, {{70, 700}, {700}}, {{0, 4}, {4}}};
  return list;
}

TEST(LayerNorm, MatchesTheReferenceInEveryLayout) {
  for (const Shape& shape : shapes()) {
    const Tensor weight = test_input(shape.normalized, kFloat64, 5), bias = test_input(shape.normalized, kFloat64, 6);
    const auto width = static_cast<std::size_t>(weight.numel());
    const std::vector<double> w = weight.to(kFloat32).to_vector<double>(), b = bias.to(kFloat32).to_vector<double>();
    const Tensor w32 = weight.to(kFloat32), b32 = bias.to(kFloat32);
    const auto as = [](const Tensor& parameter, const Tensor& x) { return parameter.to(x.dtype()); };
    expect_matches([&](const Tensor& x) { return layer_norm(x, shape.normalized, as(w32, x), as(b32, x), 1e-3); },
                   [&](const auto& x, IntArrayRef) { return naive_norm(x, width, w, b, 1e-3, true); }, shape.sizes);
    expect_matches([&](const Tensor& x) { return layer_norm(x, shape.normalized); },
                   [&](const auto& x, IntArrayRef) { return naive_norm(x, width, {}, {}, 1e-5, true); }, shape.sizes);
    expect_matches([&](const Tensor& x) { return rms_norm(x, shape.normalized, as(w32, x), 1e-3); },
                   [&](const auto& x, IntArrayRef) { return naive_norm(x, width, w, {}, 1e-3, false); }, shape.sizes);
  }
}

TEST(LayerNorm, IsExactForValuesFarFromZero) {
  const Tensor x = tensor({10000.0, 10001.0, 10002.0, 10003.0}, {.dtype = kFloat32});
  EXPECT_TRUE(is_close(layer_norm(x, {4}), naive_norm({10000, 10001, 10002, 10003}, 4, {}, {}, 1e-5, true), 1e-6));
}

TEST(LayerNorm, RmsNormsEpsilonIsTheTypesByDefault) {
  EXPECT_TRUE(is_close(rms_norm(zeros({2}), {2}), {0, 0}, 0));
  const Tensor tiny = tensor({1e-4, -1e-4});
  EXPECT_TRUE(is_close(rms_norm(tiny, {2}), naive_norm({1e-4, -1e-4}, 2, {}, {}, 1.1920928955078125e-07, false), 1e-6));
}

TEST(LayerNorm, DerivativesOfInputWeightAndBiasMatchFiniteDifferences) {
  for (const Shape& shape : std::vector<Shape>{{{3, 5}, {5}}, {{2, 2, 3}, {2, 3}}, {{1, 4}, {4}}}) {
    const TensorVector inputs = {gradcheck_input(shape.sizes, 1), gradcheck_input(shape.normalized, 2),
                                 gradcheck_input(shape.normalized, 3)};
    EXPECT_TRUE(gradcheck_twice([&](const TensorVector& in) { return layer_norm(in[0], shape.normalized, in[1], in[2]); }, inputs));
    EXPECT_TRUE(gradcheck_twice([&](const TensorVector& in) { return layer_norm(in[0], shape.normalized); }, {inputs[0]}));
    EXPECT_TRUE(gradcheck_twice([&](const TensorVector& in) { return rms_norm(in[0], shape.normalized, in[1]); }, {inputs[0], inputs[1]}));
    EXPECT_TRUE(gradcheck_twice([&](const TensorVector& in) { return rms_norm(in[0], shape.normalized); }, {inputs[0]}));
  }
}

TEST(LayerNorm, ParameterGradientsDoNotDependOnTheNumberOfThreads) {
  const auto gradient = [](int threads) {
    set_num_threads(threads);
    const Tensor x = test_input({400, 300}, kFloat32, 7), weight = ones({300}, {.requires_grad = true});
    weighted_sum(layer_norm(x, {300}, weight).to(kFloat64)).backward();
    return weight.grad().to_vector<float>();
  };
  const int before = get_num_threads();
  const std::vector<float> one = gradient(1), several = gradient(3);
  set_num_threads(before);
  EXPECT_EQ(one, several);
}

TEST(LayerNorm, BackwardNodesHaveTorchsNames) {
  EXPECT_EQ(node_name(layer_norm(gradcheck_input({2, 3}), {3})), "NativeLayerNormBackward0");
  EXPECT_EQ(node_name(rms_norm(gradcheck_input({2, 3}), {3})), "FusedRmsNormBackward0");
}

TEST(LayerNorm, RefusesWhatTorchRefuses) {
  EXPECT_THAT(error_of([] {
                layer_norm(ones({2, 3}), {4});
              }),
              HasSubstr("Given normalized_shape=[4], expected input with shape [*, 4], but got input of size[2, 3]"));
  EXPECT_THAT(error_of([] { layer_norm(ones({2, 3}), {}); }), HasSubstr("at least 1-dimensional"));
  EXPECT_THAT(error_of([] {
                layer_norm(ones({2, 3}), {3}, ones({2}));
              }),
              HasSubstr("Expected weight to be of same shape as normalized_shape"));
  EXPECT_THAT(error_of([] { layer_norm(ones({2, 3}), {3}, ones({3}), ones({4})); }), HasSubstr("Expected bias to be of same shape"));
  EXPECT_THAT(error_of([] { layer_norm(ones({2, 3}), {3}, ones({3}, {.dtype = kFloat64})); }), HasSubstr("expected scalar type Float"));
  EXPECT_THAT(error_of([] { layer_norm(ones({2, 3}, {.dtype = kInt64}), {3}); }), HasSubstr("not implemented for 'Long'"));
}

}  // namespace
}  // namespace mindtorch
