// Values of reductions against naive references, over dimensions, strides, empty tensors and types.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "runtime/tests/naive.h"

namespace mindtorch::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Values = std::vector<double>;

// All elements that fall on one element of the result, in order.
std::vector<Values> groups(const Plain& x, const std::vector<std::int64_t>& dims, std::vector<std::int64_t>& kept_sizes) {
  kept_sizes.clear();
  std::vector<std::int64_t> full = x.sizes;
  for (std::size_t d = 0; d < x.sizes.size(); ++d) {
    const bool reduced = dims.empty() || std::find(dims.begin(), dims.end(), static_cast<std::int64_t>(d)) != dims.end();
    full[d] = reduced ? 1 : x.sizes[d];
    if (!reduced) kept_sizes.push_back(x.sizes[d]);
  }
  std::vector<Values> result(static_cast<std::size_t>(std::accumulate(full.begin(), full.end(), std::int64_t{1}, std::multiplies<>())));
  each_index(x.sizes, [&](const std::vector<std::int64_t>& index) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < full.size(); ++d) at = at * full[d] + (full[d] == 1 ? 0 : index[d]);
    result[static_cast<std::size_t>(at)].push_back(x.at(index));
  });
  return result;
}

double mean_of(const Values& v) { return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size()); }
double variance_of(const Values& v, double correction) {
  const double mean = mean_of(v);
  double sum = 0;
  for (const double x : v) sum += (x - mean) * (x - mean);
  return sum / (static_cast<double>(v.size()) - correction);
}

struct Reduction {
  std::string name;
  std::function<Tensor(const Tensor&, IntArrayRef, bool)> op;
  std::function<double(const Values&)> reference;
  bool floating = true;
  bool empty_allowed = true;
};

std::vector<Reduction> all_reductions() {
  return {
      {"sum", [](const Tensor& t, IntArrayRef d, bool k) { return t.sum(d, k); },
       [](const Values& v) { return std::accumulate(v.begin(), v.end(), 0.0); }, false},
      {"mean", [](const Tensor& t, IntArrayRef d, bool k) { return t.mean(d, k); }, mean_of},
      {"var", [](const Tensor& t, IntArrayRef d, bool k) { return var(t, d, 1, k); },
       [](const Values& v) { return v.size() < 2 ? NAN : variance_of(v, 1); }, true, false},
      {"std", [](const Tensor& t, IntArrayRef d, bool k) { return std(t, d, 0, k); },
       [](const Values& v) { return std::sqrt(variance_of(v, 0)); }, true, false},
      {"norm", [](const Tensor& t, IntArrayRef d, bool k) { return norm(t, 2, d, k); },
       [](const Values& v) { return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0)); }},
      {"norm3", [](const Tensor& t, IntArrayRef d, bool k) { return norm(t, 3, d, k); },
       [](const Values& v) {
         double s = 0;
         for (const double x : v) s += std::pow(std::abs(x), 3);
         return std::cbrt(s);
       }},
      {"norm_inf", [](const Tensor& t, IntArrayRef d, bool k) { return norm(t, INFINITY, d, k); },
       [](const Values& v) {
         double s = 0;
         for (const double x : v) s = std::max(s, std::abs(x));
         return s;
       },
       true, false},
      {"amax", [](const Tensor& t, IntArrayRef d, bool k) { return amax(t, d, k); },
       [](const Values& v) { return *std::max_element(v.begin(), v.end()); }, false, false},
      {"amin", [](const Tensor& t, IntArrayRef d, bool k) { return amin(t, d, k); },
       [](const Values& v) { return *std::min_element(v.begin(), v.end()); }, false, false},
      {"logsumexp", [](const Tensor& t, IntArrayRef d, bool k) { return logsumexp(t, d, k); },
       [](const Values& v) {
         double s = 0;
         for (const double x : v) s += std::exp(x);
         return std::log(s);
       },
       true, false},
  };
}

TEST(Reductions, AgreeWithTheirDefinitionInEveryDimension) {
  for (const Reduction& reduction : all_reductions()) {
    TensorMaker maker(3);
    for (int round = 0; round < 80; ++round) {
      const Tensor t = maker.make(maker.sizes(), reduction.floating ? maker.floating_type() : maker.type());
      const Plain x = plain(t);
      std::vector<std::int64_t> dims;
      for (std::int64_t d = 0; d < t.dim(); ++d)
        if (maker.number(0, 1) == 0) dims.push_back(d);
      if (t.numel() == 0 && !reduction.empty_allowed) continue;
      std::vector<std::int64_t> kept;
      const std::vector<Values> expected = groups(x, dims, kept);
      const bool keepdim = maker.number(0, 1) == 0;
      const Tensor found = reduction.op(t, dims, keepdim);
      if (!keepdim) {
        ASSERT_EQ(found.sizes().vec(), kept) << reduction.name;
      }
      const std::vector<double> values = found.to_vector<double>();
      ASSERT_EQ(values.size(), expected.size()) << reduction.name;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const double e = reduction.reference(expected[i]);
        if (std::isfinite(e))
          EXPECT_NEAR(values[i], e, 1e-5 * (1 + std::abs(e))) << reduction.name;
        else
          EXPECT_FALSE(std::isfinite(values[i])) << reduction.name;
      }
    }
  }
}

TEST(Reductions, LongFloatSumsAreExactToFloatPrecision) {
  const Tensor x = full({1 << 22}, 0.1f);
  EXPECT_NEAR(x.sum().item<double>() / (0.1f * (1 << 22)), 1, 1e-6);
  EXPECT_NEAR(x.view({1 << 20, 4}).sum({0})[0].item<double>() / (0.1f * (1 << 20)), 1, 1e-6);
  EXPECT_NEAR(x.view({4, 1 << 20}).t().sum({0})[0].item<double>() / (0.1f * (1 << 20)), 1, 1e-6);
}

TEST(Reductions, VarianceDoesNotCancelAgainstALargeMean) {
  const Tensor x = arange(1000).to(kFloat64) + 1e9;
  EXPECT_NEAR(x.var().item<double>(), 83416.6666666, 1e-3);
}

TEST(Reductions, ExtremaKnowTheirFirstPosition) {
  const Tensor x = tensor<double>(std::vector<double>{1, 5, 5, -2, 7, -2}, {2, 3});
  const auto [values, at] = x.max(1);
  EXPECT_THAT(values.to_vector<double>(), ElementsAre(5, 7));
  EXPECT_THAT(at.to_vector<std::int64_t>(), ElementsAre(1, 1));
  EXPECT_EQ(at.dtype(), kInt64);
  const auto [low, low_at] = x.t().min(0, true);
  EXPECT_EQ(low.sizes().vec(), (std::vector<std::int64_t>{1, 2}));
  EXPECT_THAT(low_at.to_vector<std::int64_t>(), ElementsAre(0, 0));
  EXPECT_EQ(x.argmax().item<int>(), 4);
  EXPECT_THAT(x.argmin(0).to_vector<std::int64_t>(), ElementsAre(1, 0, 1));
  EXPECT_EQ(x.argmax(std::nullopt, true).sizes().vec(), (std::vector<std::int64_t>{1, 1}));
}

TEST(Reductions, NanWinsEveryContest) {
  const Tensor x = tensor<double>({1, NAN, 3});
  EXPECT_TRUE(std::isnan(x.max().item<double>()));
  EXPECT_TRUE(std::isnan(x.min().item<double>()));
  EXPECT_EQ(x.argmax().item<int>(), 1);
  EXPECT_EQ(std::get<1>(x.min(0)).item<int>(), 1);
}

TEST(Reductions, TopkIsOrdered) {
  const Tensor x = tensor<double>(std::vector<double>{3, 1, 4, 1, 5, 9, 2, 6}, {2, 4});
  const auto [values, at] = topk(x, 2, 1);
  EXPECT_THAT(values.to_vector<double>(), ElementsAre(4, 3, 9, 6));
  EXPECT_THAT(at.to_vector<std::int64_t>(), ElementsAre(2, 0, 1, 3));
  EXPECT_THAT(std::get<0>(topk(x, 1, 0, false)).to_vector<double>(), ElementsAre(3, 1, 2, 1));
  EXPECT_THROW(topk(x, 5, 1), Error);
}

TEST(Reductions, CumsumRunsAlongItsDimension) {
  const Tensor x = arange(6).view({2, 3});
  EXPECT_THAT(cumsum(x, 1).to_vector<double>(), ElementsAre(0, 1, 3, 3, 7, 12));
  EXPECT_THAT(cumsum(x, 0).to_vector<double>(), ElementsAre(0, 1, 2, 3, 5, 7));
  EXPECT_THAT(cumsum(x.t(), -1).to_vector<double>(), ElementsAre(0, 3, 1, 5, 2, 7));
}

TEST(Reductions, TruthOfAllAndSome) {
  const Tensor x = tensor<std::int64_t>(std::vector<std::int64_t>{0, 1, 1, 1}, {2, 2});
  EXPECT_TRUE(any(x).item<bool>());
  EXPECT_FALSE(all(x).item<bool>());
  EXPECT_THAT(all(x, 1).to_vector<bool>(), ElementsAre(false, true));
  EXPECT_THAT(any(x, 0, true).to_vector<bool>(), ElementsAre(true, true));
  EXPECT_TRUE(all(empty({0})).item<bool>());
  EXPECT_FALSE(any(empty({0})).item<bool>());
}

TEST(Reductions, ProductsOfIntegersAndOfNothing) {
  EXPECT_EQ(arange(1, 6).prod().item<int>(), 120);
  EXPECT_EQ(empty({0}).prod().item<double>(), 1);
  EXPECT_THAT(arange(1, 7).view({2, 3}).prod(1).to_vector<double>(), ElementsAre(6, 120));
}

TEST(Reductions, LogsumexpSurvivesInfinities) {
  EXPECT_EQ(logsumexp(tensor<double>({-INFINITY, -INFINITY}), {0}).item<double>(), -INFINITY);
  EXPECT_EQ(logsumexp(tensor<double>({INFINITY, 1}), {0}).item<double>(), INFINITY);
  EXPECT_NEAR(logsumexp(tensor<double>({1000, 1000}), {0}).item<double>(), 1000 + std::log(2), 1e-3);
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ReductionErrors, NameTheOpAndTheValues) {
  const Tensor x = ones({2, 3});
  EXPECT_THAT(error_of([&] { x.sum({2}); }),
              HasSubstr("[aten::sum] Dimension out of range (expected to be in range of [-2, 1], but got 2)"));
  EXPECT_THAT(error_of([&] { x.sum({0, -2}); }), HasSubstr("dim -2 appears multiple times in the list of dims"));
  EXPECT_THAT(error_of([&] { ones({2}, {.dtype = kInt64}).mean(); }), HasSubstr("Got: Long"));
  EXPECT_THAT(error_of([&] { empty({0}).max(); }), HasSubstr("input.numel() == 0"));
  EXPECT_THAT(error_of([&] { empty({2, 0}).max(1); }), HasSubstr("Expected reduction dim 1 to have non-zero size"));
  EXPECT_THAT(error_of([&] { ones({2}, {.dtype = kInt64}).var(); }), HasSubstr("only support floating point"));
}

}  // namespace
}  // namespace mindtorch::testing
