// Convolutions against a reference in double, and their derivatives.
#include "mindtorch/runtime/ops/convolution.h"

#include "runtime/tests/reference.h"

namespace mindtorch {
namespace {

using namespace mindtorch::testing;
using ::testing::HasSubstr;

struct Case {
  std::vector<std::int64_t> input, weight;  // four dimensions each
  std::vector<std::int64_t> stride = {1, 1}, padding = {0, 0}, dilation = {1, 1};
  std::int64_t groups = 1;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {{1, 1, 3, 3}, {1, 1, 3, 3}},
      {{2, 3, 5, 6}, {4, 3, 3, 2}},
      {{2, 3, 7, 8}, {4, 3, 3, 3}, {1, 1}, {1, 1}},
      {{1, 2, 9, 8}, {3, 2, 3, 3}, {2, 3}, {1, 0}},
      {{2, 2, 9, 9}, {3, 2, 3, 2}, {1, 2}, {2, 1}, {2, 3}},
      {{2, 4, 5, 5}, {6, 2, 3, 3}, {1, 1}, {1, 1}, {1, 1}, 2},
      {{1, 3, 4, 4}, {3, 1, 2, 2}, {1, 1}, {0, 0}, {1, 1}, 3},
      {{3, 5, 4, 3}, {2, 5, 1, 1}},
      {{1, 2, 4, 4}, {2, 2, 1, 1}, {2, 2}},
      {{1, 1, 1, 1}, {1, 1, 3, 3}, {1, 1}, {1, 1}},
      {{0, 2, 4, 4}, {3, 2, 2, 2}},
  };
  return list;
}

std::vector<double> naive_conv2d(const Case& c, const std::vector<double>& x, const std::vector<double>& w,
                                 const std::vector<double>& bias) {
  const auto out_size = [&](std::size_t d) {
    return (c.input[d + 2] + 2 * c.padding[d] - c.dilation[d] * (c.weight[d + 2] - 1) - 1) / c.stride[d] + 1;
  };
  const std::int64_t height = out_size(0), width = out_size(1), out_channels = c.weight[0], group_inputs = c.weight[1];
  std::vector<double> y;
  for (std::int64_t n = 0; n < c.input[0]; ++n)
    for (std::int64_t o = 0; o < out_channels; ++o)
      for (std::int64_t i = 0; i < height; ++i)
        for (std::int64_t j = 0; j < width; ++j) {
          double sum = bias.empty() ? 0 : bias[static_cast<std::size_t>(o)];
          for (std::int64_t k = 0; k < group_inputs; ++k)
            for (std::int64_t a = 0; a < c.weight[2]; ++a)
              for (std::int64_t b = 0; b < c.weight[3]; ++b) {
                const std::int64_t row = i * c.stride[0] - c.padding[0] + a * c.dilation[0];
                const std::int64_t column = j * c.stride[1] - c.padding[1] + b * c.dilation[1];
                if (row < 0 || row >= c.input[2] || column < 0 || column >= c.input[3]) continue;
                const std::int64_t channel = o / (out_channels / c.groups) * group_inputs + k;
                sum += x[static_cast<std::size_t>(((n * c.input[1] + channel) * c.input[2] + row) * c.input[3] + column)] *
                       w[static_cast<std::size_t>(((o * group_inputs + k) * c.weight[2] + a) * c.weight[3] + b)];
              }
          y.push_back(sum);
        }
  return y;
}

Tensor run(const Case& c, const Tensor& x, const Tensor& w, const Tensor& bias = {}) {
  return conv2d(x, w, bias, c.stride, c.padding, c.dilation, c.groups);
}

TEST(Convolution, TwoDimensionsMatchTheReference) {
  for (const Case& c : cases()) {
    const Tensor weight = test_input(c.weight, kFloat32, 2), bias = test_input({c.weight[0]}, kFloat32, 3);
    const std::vector<double> w = weight.to_vector<double>(), b = bias.to_vector<double>();
    expect_matches([&](const Tensor& x) { return run(c, x, weight.to(x.dtype()), bias.to(x.dtype())); },
                   [&](const auto& x, IntArrayRef) { return naive_conv2d(c, x, w, b); }, c.input);
    expect_matches([&](const Tensor& x) { return run(c, x, strided_copy(weight.to(x.dtype()))); },
                   [&](const auto& x, IntArrayRef) { return naive_conv2d(c, x, w, {}); }, c.input);
  }
}

TEST(Convolution, OneDimensionIsAnImageOfHeightOne) {
  const Tensor x = test_input({2, 4, 11}, kFloat64), w = test_input({6, 2, 3}, kFloat64, 2), b = test_input({6}, kFloat64, 3);
  const Tensor expected = conv2d(x.unsqueeze(2), w.unsqueeze(2), b, {1, 2}, {0, 1}, {1, 2}, 2).squeeze(2);
  EXPECT_TRUE(is_close(conv1d(x, w, b, 2, 1, 2, 2), expected.to_vector<double>(), 1e-14));
  EXPECT_EQ(conv1d(x, w, b, 2, 1, 2, 2).sizes().vec(), expected.sizes().vec());
}

TEST(Convolution, ABatchMayBeMissing) {
  const Tensor x = test_input({3, 6, 6}), w = test_input({2, 3, 3, 3}, kFloat32, 2);
  const Tensor y = conv2d(x, w);
  EXPECT_EQ(y.sizes().vec(), (std::vector<std::int64_t>{2, 4, 4}));
  EXPECT_TRUE(is_close(y, conv2d(x.unsqueeze(0), w).to_vector<double>(), 0));
  EXPECT_EQ(conv1d(ones({2, 5}), ones({1, 2, 2})).sizes().vec(), (std::vector<std::int64_t>{1, 4}));
}

TEST(Convolution, DerivativesOfInputWeightAndBiasMatchFiniteDifferences) {
  for (const Case& c : std::vector<Case>{{{2, 2, 4, 3}, {2, 2, 2, 2}, {1, 1}, {1, 0}},
                                         {{1, 4, 5, 4}, {2, 2, 2, 2}, {2, 1}, {1, 1}, {2, 1}, 2},
                                         {{2, 2, 2, 2}, {2, 2, 1, 1}}}) {
    const TensorVector inputs = {gradcheck_input(c.input, 1), gradcheck_input(c.weight, 2), gradcheck_input({c.weight[0]}, 3)};
    EXPECT_TRUE(gradcheck_twice([&](const TensorVector& in) { return run(c, in[0], in[1], in[2]); }, inputs));
  }
  EXPECT_TRUE(gradcheck_twice([](const TensorVector& in) { return conv1d(in[0], in[1], in[2], 2, 1); },
                              {gradcheck_input({2, 2, 5}, 1), gradcheck_input({3, 2, 2}, 2), gradcheck_input({3}, 3)}));
}

TEST(Convolution, OnlyTheGradientsThatAreNeededAreComputed) {
  const Tensor x = test_input({1, 1, 4, 4}), w = test_input({1, 1, 2, 2}).requires_grad_();
  const Tensor y = conv2d(x, w);
  EXPECT_EQ(node_name(y), "ConvolutionBackward0");
  y.sum().backward();
  EXPECT_TRUE(w.grad().defined());
  EXPECT_FALSE(x.grad().defined());
}

TEST(Convolution, UnfoldingAndFoldingAreAdjoint) {
  const TensorVector image = {gradcheck_input({2, 2, 4, 5})};
  EXPECT_TRUE(gradcheck_twice([](const TensorVector& in) { return im2col(in[0], {2, 3}, 1, 1, {2, 1}); }, image));
  EXPECT_TRUE(gradcheck_twice([](const TensorVector& in) { return col2im(in[0], {4, 5}, {2, 2}); }, {gradcheck_input({1, 8, 12})}));
  EXPECT_TRUE(is_close(im2col(tensor({1.0, 2.0, 3.0, 4.0}).reshape({1, 1, 2, 2}), {1, 2}), {1, 3, 2, 4}, 0));
  EXPECT_TRUE(is_close(col2im(ones({1, 4, 4}), {3, 3}, 2), {1, 2, 1, 2, 4, 2, 1, 2, 1}, 0));
}

TEST(Convolution, RefusesWhatTorchRefuses) {
  const Tensor x = ones({2, 3, 8, 8}), w = ones({4, 3, 3, 3});
  EXPECT_THAT(
      error_of([&] {
        conv2d(ones({2, 5, 8, 8}), w);
      }),
      HasSubstr("Given groups=1, weight of size [4, 3, 3, 3], expected input[2, 5, 8, 8] to have 3 channels, but got 5 channels instead"));
  EXPECT_THAT(error_of([&] {
                conv2d(ones({8, 8}), w);
              }),
              HasSubstr("Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [8, 8]"));
  EXPECT_THAT(
      error_of([&] {
        conv2d(ones({2, 3, 2, 2}), w);
      }),
      HasSubstr(
          "Calculated padded input size per channel: (2 x 2). Kernel size: (3 x 3). Kernel size can't be greater than actual input size"));
  EXPECT_THAT(error_of([&] { conv2d(x, w, ones({3})); }), HasSubstr("expected bias to be 1-dimensional with 4 elements"));
  EXPECT_THAT(error_of([&] { conv2d(x, w, {}, 0); }), HasSubstr("non-positive stride is not supported"));
  EXPECT_THAT(error_of([&] { conv2d(x, w, {}, 1, -1); }), HasSubstr("negative padding is not supported"));
  EXPECT_THAT(error_of([&] { conv2d(x, ones({4, 3, 3, 3}, {.dtype = kFloat64})); }), HasSubstr("should be the same"));
  EXPECT_THAT(error_of([&] {
                conv2d(x, ones({5, 1, 3, 3}), {}, 1, 0, 1, 3);
              }),
              HasSubstr("expected weight to be divisible by 3 at dimension 0"));
}

}  // namespace
}  // namespace mindtorch
