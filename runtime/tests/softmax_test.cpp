// softmax and log_softmax against references in double, and their derivatives.
#include "mindtorch/runtime/ops/softmax.h"

#include "runtime/tests/reference.h"

namespace mindtorch {
namespace {

using namespace mindtorch::testing;
using ::testing::HasSubstr;

// Over dimension `dim`, the long way round.
std::vector<double> naive_softmax(const std::vector<double>& in, IntArrayRef sizes, std::size_t dim, bool logarithm) {
  std::int64_t outer = 1, inner = 1;
  for (std::size_t d = 0; d < dim; ++d) outer *= sizes[d];
  for (std::size_t d = dim + 1; d < sizes.size(); ++d) inner *= sizes[d];
  const std::int64_t size = sizes[dim];
  std::vector<double> out(in.size());
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      const auto at = [&](std::int64_t k) { return static_cast<std::size_t>((o * size + k) * inner + i); };
      double largest = -INFINITY, sum = 0;
      for (std::int64_t k = 0; k < size; ++k) largest = std::max(largest, in[at(k)]);
      for (std::int64_t k = 0; k < size; ++k) sum += std::exp(in[at(k)] - largest);
      for (std::int64_t k = 0; k < size; ++k)
        out[at(k)] = logarithm ? in[at(k)] - largest - std::log(sum) : std::exp(in[at(k)] - largest) / sum;
    }
  return out;
}

TEST(Softmax, MatchesTheReferenceOverEveryDimension) {
  for (const std::vector<std::int64_t>& sizes :
       std::vector<std::vector<std::int64_t>>{{1}, {19}, {3, 5}, {4, 33}, {2, 3, 4}, {3, 40, 150}, {130, 600}, {2, 0, 3}, {0, 4}})
    for (std::size_t dim = 0; dim < sizes.size(); ++dim) {
      const auto d = static_cast<std::int64_t>(dim);
      expect_matches([&](const Tensor& x) { return softmax(x, d); },
                     [&](const auto& values, IntArrayRef shape) { return naive_softmax(values, shape, dim, false); }, sizes, -5, 5);
      expect_matches([&](const Tensor& x) { return log_softmax(x, d - static_cast<std::int64_t>(sizes.size())); },
                     [&](const auto& values, IntArrayRef shape) { return naive_softmax(values, shape, dim, true); }, sizes, -5, 5);
    }
}

TEST(Softmax, DoesNotOverflowAndKeepsTorchsSpecialValues) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(is_close(softmax(tensor({1000.0, 1000.0}), 0), {0.5, 0.5}, 0));
  EXPECT_TRUE(is_close(log_softmax(tensor({-1000.0, 0.0}), 0), {-1000, 0}, 0));
  EXPECT_TRUE(is_close(softmax(tensor({-infinity, 0.0, -infinity}), 0), {0, 1, 0}, 0));
  EXPECT_TRUE(is_close(softmax(tensor({-infinity, -infinity}), 0), {NAN, NAN}, 0));
  EXPECT_TRUE(is_close(softmax(tensor({std::nan(""), 1.0}), 0), {NAN, NAN}, 0));
  EXPECT_TRUE(is_close(softmax(tensor({1.0, std::nan("")}), 0), {NAN, NAN}, 0));
  EXPECT_TRUE(is_close(softmax(scalar_tensor(3.0), 0), {1}, 0));
}

TEST(Softmax, SafeSoftmaxGivesZerosWhereEverythingIsMasked) {
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor x = tensor<double>({-infinity, -infinity, 1.0, 1.0}, {2, 2}, {.dtype = kFloat64, .requires_grad = true});
  const Tensor rows = safe_softmax(x, 1);
  EXPECT_TRUE(is_close(rows, {0, 0, 0.5, 0.5}, 0));
  EXPECT_TRUE(is_close(safe_softmax(x.t(), 0), {0, 0.5, 0, 0.5}, 0));
  EXPECT_EQ(node_name(rows), "SafeSoftmaxBackward0");
  weighted_sum(rows).backward();
  for (const double value : x.grad().to_vector<double>()) EXPECT_TRUE(std::isfinite(value));
}

TEST(Softmax, FirstAndSecondDerivativesMatchFiniteDifferences) {
  for (const std::int64_t dim : {0, 1, 2}) {
    EXPECT_TRUE(gradcheck_twice([dim](const TensorVector& in) { return softmax(in[0], dim); }, {gradcheck_input({2, 3, 4}, 2)}));
    EXPECT_TRUE(gradcheck_twice([dim](const TensorVector& in) { return log_softmax(in[0], dim); }, {gradcheck_input({2, 3, 4}, 3)}));
    EXPECT_TRUE(
        gradcheck_twice([dim](const TensorVector& in) { return softmax(in[0].transpose(0, 2), dim); }, {gradcheck_input({2, 3, 4}, 4)}));
  }
}

TEST(Softmax, ConvertsFirstIfATypeIsAskedFor) {
  const Tensor result = softmax(tensor({1, 2, 3}), 0, kFloat64);
  EXPECT_EQ(result.dtype(), kFloat64);
  EXPECT_TRUE(is_close(result, naive_softmax({1, 2, 3}, {3}, 0, false), 1e-15));
  EXPECT_EQ(node_name(softmax(gradcheck_input({3}), 0)), "SoftmaxBackward0");
  EXPECT_EQ(node_name(log_softmax(gradcheck_input({3}), 0)), "LogSoftmaxBackward0");
}

TEST(Softmax, RefusesWhatTorchRefuses) {
  EXPECT_THAT(error_of([] { softmax(tensor({1, 2}), 0); }), HasSubstr("not implemented for 'Long'"));
  EXPECT_THAT(error_of<OutOfRange>([] { softmax(ones({2, 2}), 2); }), HasSubstr("Dimension out of range"));
}

}  // namespace
}  // namespace mindtorch
