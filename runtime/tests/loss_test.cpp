// Losses against references in double, and their derivatives.
#include "mindtorch/runtime/ops/loss.h"

#include "runtime/tests/reference.h"

namespace mindtorch {
namespace {

using namespace mindtorch::testing;
using ::testing::HasSubstr;

constexpr Reduction kAll[] = {Reduction::kNone, Reduction::kMean, Reduction::kSum};

std::vector<double> reduced(const std::vector<double>& losses, Reduction reduction, double divisor = 0) {
  if (reduction == Reduction::kNone) return losses;
  double sum = 0;
  for (const double loss : losses) sum += loss;
  return {reduction == Reduction::kSum ? sum : sum / (divisor != 0 ? divisor : static_cast<double>(losses.size()))};
}

// ---- elements of two tensors ----

struct DistanceCase {
  const char* name;
  std::function<Tensor(const Tensor&, const Tensor&, Reduction)> function;
  double (*reference)(double);
  const char* node;
};
const std::vector<DistanceCase>& distances() {
  static const std::vector<DistanceCase> list = {
      {"mse", [](const Tensor& x, const Tensor& y, Reduction r) { return mse_loss(x, y, r); }, [](double d) { return d * d; },
       "MseLossBackward0"},
      {"l1", [](const Tensor& x, const Tensor& y, Reduction r) { return l1_loss(x, y, r); }, [](double d) { return std::abs(d); },
       "AbsBackward0"},
      {"smooth_l1", [](const Tensor& x, const Tensor& y, Reduction r) { return smooth_l1_loss(x, y, r, 0.5); },
       [](double d) { return std::abs(d) < 0.5 ? d * d : std::abs(d) - 0.25; }, "SmoothL1LossBackward0"},
      {"smooth_l1_sharp", [](const Tensor& x, const Tensor& y, Reduction r) { return smooth_l1_loss(x, y, r, 0); },
       [](double d) { return std::abs(d); }, "SmoothL1LossBackward0"},
  };
  return list;
}

TEST(Loss, DistancesMatchReferences) {
  for (const DistanceCase& c : distances())
    for (const Reduction reduction : kAll) {
      SCOPED_TRACE(c.name);
      const Tensor target = test_input({6, 35}, kFloat64, 4).to(kFloat32);
      const std::vector<double> y = target.to_vector<double>();
      expect_matches([&](const Tensor& x) { return c.function(x, target.to(x.dtype()), reduction); },
                     [&](std::vector<double> x, IntArrayRef) {
                       for (std::size_t i = 0; i < x.size(); ++i) x[i] = c.reference(x[i] - y[i]);
                       return reduced(x, reduction);
                     },
                     {6, 35});
    }
}

TEST(Loss, DistancesDifferentiateTwiceInBothArguments) {
  for (const DistanceCase& c : distances())
    for (const Reduction reduction : kAll) {
      const auto function = [&](const TensorVector& in) { return c.function(in[0], in[1], reduction); };
      EXPECT_TRUE(gradcheck_twice(function, {gradcheck_input({3, 4}, 1), gradcheck_input({3, 4}, 2)})) << c.name;
      EXPECT_TRUE(gradcheck_twice(function, {gradcheck_input({3, 4}, 1), gradcheck_input({4}, 2)})) << c.name << ", broadcast";
      EXPECT_EQ(node_name(c.function(gradcheck_input({2}), ones({2}, {.dtype = kFloat64}), Reduction::kNone)), c.node);
    }
}

TEST(Loss, BinaryCrossEntropyWithLogitsMatchesTheReference) {
  const Tensor target = test_input({4, 5}, kFloat64, 2, 0, 1), weight = test_input({5}, kFloat64, 3, 0.1, 2),
               positive = test_input({5}, kFloat64, 4, 0.1, 3);
  const std::vector<double> y = target.to_vector<double>(), w = weight.to_vector<double>(), p = positive.to_vector<double>();
  for (const Reduction reduction : kAll)
    for (const bool weighted : {false, true}) {
      const Tensor x = test_input({4, 5}, kFloat64);
      std::vector<double> expected = x.to_vector<double>();
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const double s = 1 / (1 + std::exp(-expected[i]));
        expected[i] = weighted ? w[i % 5] * -(p[i % 5] * y[i] * std::log(s) + (1 - y[i]) * std::log(1 - s))
                               : -(y[i] * std::log(s) + (1 - y[i]) * std::log(1 - s));
      }
      const Tensor loss =
          binary_cross_entropy_with_logits(x, target, weighted ? weight : Tensor(), weighted ? positive : Tensor(), reduction);
      EXPECT_TRUE(is_close(loss, reduced(expected, reduction), 1e-12));
      EXPECT_TRUE(gradcheck_twice(
          [&](const TensorVector& in) {
            return binary_cross_entropy_with_logits(in[0], in[1], weighted ? weight : Tensor(), weighted ? positive : Tensor(), reduction);
          },
          {gradcheck_input({4, 5}, 1), gradcheck_input({4, 5}, 2, 0, 1)}));
    }
  EXPECT_TRUE(
      is_close(binary_cross_entropy_with_logits(tensor({500.0, -500.0}), tensor({1.0, 1.0}), {}, {}, Reduction::kNone), {0, 500}, 1e-6));
}

// ---- classification ----

struct Classes {
  Tensor scores, target;
};
// Targets repeat 0, 1, 2, -100 (ignored), ...
Classes classification(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> target_sizes(sizes);
  target_sizes.erase(target_sizes.begin() + (sizes.size() == 1 ? 0 : 1));
  const std::int64_t classes = sizes.size() == 1 ? sizes[0] : sizes[1];
  std::vector<std::int64_t> labels(static_cast<std::size_t>(checked_numel(target_sizes)));
  for (std::size_t i = 0; i < labels.size(); ++i)
    labels[i] = i % 4 == 3 ? -100 : static_cast<std::int64_t>(i * 5 % static_cast<std::size_t>(classes));
  return {gradcheck_input(sizes, 3, -3, 3), tensor<std::int64_t>(labels, target_sizes)};
}

// The loss of each target; the weights of those that count are added to `total`.
std::vector<double> naive_cross_entropy(const Classes& c, const std::vector<double>& weight, double smoothing, double* total) {
  const std::vector<double> x = c.scores.to_vector<double>();
  const std::vector<std::int64_t> labels = c.target.to_vector<std::int64_t>();
  const std::int64_t classes = c.scores.dim() == 1 ? c.scores.size(0) : c.scores.size(1);
  const std::int64_t inner = c.scores.dim() <= 2 ? 1 : static_cast<std::int64_t>(labels.size()) / c.scores.size(0);
  std::vector<double> losses(labels.size());
  *total = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == -100) continue;
    const auto n = static_cast<std::int64_t>(i) / inner, s = static_cast<std::int64_t>(i) % inner;
    const auto at = [&](std::int64_t k) { return x[static_cast<std::size_t>((n * classes + k) * inner + s)]; };
    double sum = 0;
    for (std::int64_t k = 0; k < classes; ++k) sum += std::exp(at(k));
    for (std::int64_t k = 0; k < classes; ++k) {
      const double share = (k == labels[i] ? 1 - smoothing : 0) + smoothing / static_cast<double>(classes);
      losses[i] -= share * weight[static_cast<std::size_t>(k)] * (at(k) - std::log(sum));
    }
    *total += weight[static_cast<std::size_t>(labels[i])];
  }
  return losses;
}

TEST(Loss, CrossEntropyMatchesTheReferenceForAllShapesWeightsAndReductions) {
  for (const std::vector<std::int64_t>& sizes :
       std::vector<std::vector<std::int64_t>>{{3}, {7, 3}, {2, 3, 5}, {2, 4, 3, 2}, {2, 3, 2, 2, 2}})
    for (const Reduction reduction : kAll)
      for (const bool weighted : {false, true})
        for (const double smoothing : {0.0, 0.1}) {
          const Classes c = classification(sizes);
          const std::int64_t classes = sizes.size() == 1 ? sizes[0] : sizes[1];
          const Tensor weight = weighted ? test_input({classes}, kFloat64, 8, 0.5, 2) : Tensor();
          double total = 0;
          const std::vector<double> losses = naive_cross_entropy(
              c, weighted ? weight.to_vector<double>() : std::vector<double>(static_cast<std::size_t>(classes), 1), smoothing, &total);
          EXPECT_TRUE(
              is_close(cross_entropy(c.scores, c.target, weight, reduction, -100, smoothing), reduced(losses, reduction, total), 1e-12))
              << to_string(sizes) << " " << static_cast<int>(reduction) << weighted << smoothing;
        }
}

TEST(Loss, CrossEntropyDifferentiatesTwice) {
  for (const std::vector<std::int64_t>& sizes : std::vector<std::vector<std::int64_t>>{{4, 3}, {2, 3, 2}, {1, 3, 2, 2}})
    for (const Reduction reduction : kAll)
      for (const double smoothing : {0.0, 0.2}) {
        const Classes c = classification(sizes);
        const Tensor weight = test_input({3}, kFloat64, 8, 0.5, 2);
        EXPECT_TRUE(gradcheck_twice(
            [&](const TensorVector& in) { return cross_entropy(in[0], c.target, weight, reduction, -100, smoothing); }, {c.scores}));
      }
}

TEST(Loss, CrossEntropyOfProbabilitiesMatchesTheOneOfTheirClasses) {
  const Classes c{gradcheck_input({3, 4}), tensor({1, 3, 0})};
  const Tensor one_hot = tensor({0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0}, {.dtype = kFloat64}).reshape({3, 4});
  for (const Reduction reduction : kAll)
    for (const double smoothing : {0.0, 0.3})
      EXPECT_TRUE(is_close(cross_entropy(c.scores, one_hot, {}, reduction, -100, smoothing),
                           cross_entropy(c.scores, c.target, {}, reduction, -100, smoothing).to_vector<double>(), 1e-12));
  EXPECT_TRUE(
      gradcheck_twice([&](const TensorVector& in) { return cross_entropy(in[0], in[1]); }, {c.scores, gradcheck_input({3, 4}, 2, 0, 1)}));
}

TEST(Loss, NodesHaveTorchsNamesAndIgnoredTargetsGiveNaNMeans) {
  const Classes flat = classification({4, 3}), image = classification({2, 3, 2, 2});
  EXPECT_EQ(node_name(nll_loss(flat.scores, flat.target)), "NllLossBackward0");
  EXPECT_EQ(node_name(nll_loss(image.scores, image.target)), "NllLoss2DBackward0");
  EXPECT_TRUE(std::isnan(nll_loss(ones({2, 3}), tensor({-100, -100})).item<double>()));
  EXPECT_EQ(nll_loss(ones({2, 3}), tensor({1, 1}), {}, Reduction::kSum, 1).item<double>(), 0);
}

TEST(Loss, RefusesWhatTorchRefuses) {
  const Tensor scores = ones({2, 3});
  EXPECT_THAT(error_of<OutOfRange>([&] { cross_entropy(scores, tensor({0, 3})); }), HasSubstr("Target 3 is out of bounds"));
  EXPECT_THAT(error_of([&] {
                cross_entropy(scores, tensor({0, 1, 2}));
              }),
              HasSubstr("Expected input batch_size (2) to match target batch_size (3)"));
  EXPECT_THAT(error_of([&] {
                cross_entropy(scores, tensor({0, 1}, {.dtype = kInt32}));
              }),
              HasSubstr("expected scalar type Long but found Int"));
  EXPECT_THAT(error_of([&] {
                cross_entropy(scores, tensor({0, 1}), ones({2}));
              }),
              HasSubstr("weight tensor should be defined either for all 3 classes"));
  EXPECT_THAT(error_of([&] {
                cross_entropy(scores, tensor({0, 1}), {}, Reduction::kMean, -100, 1.5);
              }),
              HasSubstr("label_smoothing must be between 0.0 and 1.0. Got: 1.5"));
  EXPECT_THAT(error_of([&] { mse_loss(scores, ones({2, 4})); }), HasSubstr("must match the size of tensor b"));
  EXPECT_THAT(error_of([&] { smooth_l1_loss(scores, scores, Reduction::kMean, -1); }), HasSubstr("negative values for beta"));
  EXPECT_THAT(error_of([&] { binary_cross_entropy_with_logits(scores, ones({3})); }), HasSubstr("must be the same as input size"));
  EXPECT_THAT(error_of([&] { mse_loss(scores, scores, static_cast<Reduction>(7)); }), HasSubstr("reduction must be"));
}

}  // namespace
}  // namespace mindtorch
