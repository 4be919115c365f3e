// Pooling against references in double, and its derivatives.
#include "mindtorch/runtime/ops/pooling.h"

#include "runtime/tests/reference.h"

namespace mindtorch {
namespace {

using namespace mindtorch::testing;
using ::testing::HasSubstr;

struct Case {
  std::vector<std::int64_t> input, kernel, stride = {}, padding = {0, 0}, dilation = {1, 1};
  bool ceil_mode = false;
  std::vector<std::int64_t> out = {};  // height and width that torch gives
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {{2, 3, 4, 6}, {2, 2}, {}, {0, 0}, {1, 1}, false, {2, 3}},    {{1, 2, 5, 5}, {2, 2}, {}, {0, 0}, {1, 1}, false, {2, 2}},
      {{1, 2, 5, 5}, {2, 2}, {}, {0, 0}, {1, 1}, true, {3, 3}},     {{2, 1, 7, 6}, {3, 3}, {2, 1}, {1, 1}, {1, 1}, false, {4, 6}},
      {{2, 1, 7, 6}, {3, 2}, {2, 3}, {1, 1}, {1, 1}, true, {4, 3}}, {{3, 9, 9}, {2, 3}, {1, 2}, {0, 1}, {3, 2}, false, {6, 4}},
  };
  return list;
}

// f(values of one window that lie inside of the image, their number with padding) for each output, in order.
void each_window(const Case& c, const std::vector<double>& x, const std::function<void(const std::vector<double>&, std::int64_t)>& f) {
  const std::size_t dims = c.input.size();
  const std::int64_t height = c.input[dims - 2], width = c.input[dims - 1], planes = static_cast<std::int64_t>(x.size()) / (height * width);
  const std::vector<std::int64_t>& stride = c.stride.empty() ? c.kernel : c.stride;
  for (std::int64_t p = 0; p < planes; ++p)
    for (std::int64_t i = 0; i < c.out[0]; ++i)
      for (std::int64_t j = 0; j < c.out[1]; ++j) {
        std::vector<double> inside;
        std::int64_t padded = 0;
        for (std::int64_t a = 0; a < c.kernel[0]; ++a)
          for (std::int64_t b = 0; b < c.kernel[1]; ++b) {
            const std::int64_t row = i * stride[0] - c.padding[0] + a * c.dilation[0],
                               column = j * stride[1] - c.padding[1] + b * c.dilation[1];
            if (row < height + c.padding[0] && column < width + c.padding[1]) ++padded;
            if (row >= 0 && row < height && column >= 0 && column < width)
              inside.push_back(x[static_cast<std::size_t>((p * height + row) * width + column)]);
          }
        f(inside, padded);
      }
}

TEST(Pooling, MaximaMatchTheReference) {
  for (const Case& c : cases())
    expect_matches([&](const Tensor& x) { return max_pool2d(x, c.kernel, c.stride, c.padding, c.dilation, c.ceil_mode); },
                   [&](const auto& x, IntArrayRef) {
                     std::vector<double> out;
                     each_window(c, x,
                                 [&](const auto& values, std::int64_t) { out.push_back(*std::max_element(values.begin(), values.end())); });
                     return out;
                   },
                   c.input);
}

TEST(Pooling, IndicesPointAtTheMaximaAndNaNWins) {
  const auto [out, indices] = max_pool2d_with_indices(tensor({1.0, 5.0, 2.0, 3.0, 4.0, 0.0, 7.0, std::nan("")}).reshape({1, 1, 2, 4}), 2);
  EXPECT_TRUE(is_close(out, {5, NAN}, 0));
  EXPECT_EQ(indices.to_vector<std::int64_t>(), (std::vector<std::int64_t>{1, 7}));
  EXPECT_EQ(indices.dtype(), kInt64);
}

TEST(Pooling, AveragesMatchTheReference) {
  for (const Case& c : cases()) {
    if (c.dilation[0] != 1) continue;
    for (const bool include_pad : {true, false})
      for (const std::optional<std::int64_t> divisor : {std::optional<std::int64_t>(), std::optional<std::int64_t>(3)})
        expect_matches([&](const Tensor& x) { return avg_pool2d(x, c.kernel, c.stride, c.padding, c.ceil_mode, include_pad, divisor); },
                       [&](const auto& x, IntArrayRef) {
                         std::vector<double> out;
                         each_window(c, x, [&](const auto& values, std::int64_t padded) {
                           double sum = 0;
                           for (const double value : values) sum += value;
                           out.push_back(sum / static_cast<double>(divisor       ? *divisor
                                                                   : include_pad ? padded
                                                                                 : static_cast<std::int64_t>(values.size())));
                         });
                         return out;
                       },
                       c.input);
  }
}

TEST(Pooling, AdaptiveAveragesCoverTheImage) {
  for (const std::vector<std::int64_t>& size : std::vector<std::vector<std::int64_t>>{{1, 1}, {2, 3}, {5, 7}, {7, 2}, {6, 6}})
    expect_matches([&](const Tensor& x) { return adaptive_avg_pool2d(x, size); },
                   [&](const auto& x, IntArrayRef) {
                     std::vector<double> out;
                     for (std::size_t p = 0; p < 4; ++p)
                       for (std::int64_t i = 0; i < size[0]; ++i)
                         for (std::int64_t j = 0; j < size[1]; ++j) {
                           double sum = 0, count = 0;
                           for (std::int64_t row = i * 5 / size[0]; row * size[0] < (i + 1) * 5; ++row)
                             for (std::int64_t column = j * 7 / size[1]; column * size[1] < (j + 1) * 7; ++column)
                               sum += x[p * 35 + static_cast<std::size_t>(row * 7 + column)], count += 1;
                           out.push_back(sum / count);
                         }
                     return out;
                   },
                   {2, 2, 5, 7});
}

TEST(Pooling, DerivativesMatchFiniteDifferences) {
  // Distinct values far apart: a maximum must not change within a finite difference.
  const TensorVector image = {gradcheck_input({2, 2, 5, 4}, 6, -10, 10)};
  EXPECT_TRUE(gradcheck_twice([](const TensorVector& in) { return max_pool2d(in[0], 2); }, image));
  EXPECT_TRUE(gradcheck_twice([](const TensorVector& in) { return max_pool2d(in[0], 3, 1, 1) * in[0]; }, image));
  EXPECT_TRUE(gradcheck_twice([](const TensorVector& in) { return max_pool2d(in[0].transpose(2, 3), 2); }, image));
  EXPECT_TRUE(gradcheck_twice([](const TensorVector& in) { return avg_pool2d(in[0], {3, 2}, {2, 1}, 1, true, false); }, image));
  EXPECT_TRUE(gradcheck_twice([](const TensorVector& in) { return adaptive_avg_pool2d(in[0], {3, 3}); }, image));
  EXPECT_TRUE(gradcheck_twice([](const TensorVector& in) { return adaptive_avg_pool2d(in[0], 1); }, image));
}

TEST(Pooling, SecondDerivativesGoThroughTheBackwardOps) {
  const auto squared = [](const Tensor& pooled) { return pooled * pooled; };
  const TensorVector image = {gradcheck_input({1, 1, 4, 4}, 6, -10, 10)};
  EXPECT_TRUE(gradcheck([&](const TensorVector& in) { return squared(max_pool2d(in[0], 2)); }, image, {.tolerance = 1e-4}));
  EXPECT_TRUE(gradcheck([&](const TensorVector& in) { return squared(avg_pool2d(in[0], 2, 1)); }, image, {.tolerance = 1e-4}));
  EXPECT_TRUE(gradcheck([&](const TensorVector& in) { return squared(adaptive_avg_pool2d(in[0], {3, 2})); }, image, {.tolerance = 1e-4}));
}

TEST(Pooling, BackwardNodesHaveTorchsNames) {
  const Tensor x = gradcheck_input({1, 1, 4, 4});
  EXPECT_EQ(node_name(max_pool2d(x, 2)), "MaxPool2DWithIndicesBackward0");
  EXPECT_EQ(node_name(avg_pool2d(x, 2)), "AvgPool2DBackward0");
  EXPECT_EQ(node_name(adaptive_avg_pool2d(x, 2)), "AdaptiveAvgPool2DBackward0");
  EXPECT_EQ(node_name(adaptive_avg_pool2d(x, 1)), "MeanBackward1");
}

TEST(Pooling, RefusesWhatTorchRefuses) {
  const Tensor x = ones({1, 1, 4, 4});
  EXPECT_THAT(error_of([&] { max_pool2d(x, 2, 2, 2); }), HasSubstr("pad should be at most half of effective kernel size"));
  EXPECT_THAT(error_of([&] { max_pool2d(x, 0); }), HasSubstr("kernel size should be greater than zero"));
  EXPECT_THAT(error_of([&] { max_pool2d(ones({4, 4}), 2); }), HasSubstr("Expected 3D or 4D (batch mode) tensor"));
  EXPECT_THAT(error_of([&] { max_pool2d(x, {2, 2, 2}); }), HasSubstr("kernel_size must either be a single int, or a tuple of two ints"));
  EXPECT_THAT(error_of([&] { avg_pool2d(x, 2, 2, 0, false, true, 0); }), HasSubstr("divisor must be not zero"));
  EXPECT_THAT(error_of([&] { max_pool2d(x, 5); }), HasSubstr("Kernel size can't be greater than actual input size"));
}

}  // namespace
}  // namespace mindtorch
