// Tests of random numbers and sequences.
#include "mindtorch/runtime/ops/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "mindtorch/runtime/functions.h"

namespace mindtorch {
namespace {

using ::testing::ElementsAre;

TEST(Philox, MatchesTheKnownAnswers) {
  // From the published test vectors of Philox 4x32-10.
  EXPECT_THAT(philox({0, 0}, 0), ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
}

TEST(Random, TheSameSeedGivesTheSameNumbers) {
  manual_seed(42);
  const std::vector<double> a = randn({100}).to_vector<double>(), b = rand({100}).to_vector<double>();
  manual_seed(42);
  EXPECT_EQ(randn({100}).to_vector<double>(), a);
  EXPECT_EQ(rand({100}).to_vector<double>(), b);
  EXPECT_NE(rand({100}).to_vector<double>(), b);
}

TEST(Random, StridedTensorsGetTheNumbersOfContiguousOnes) {
  manual_seed(1);
  const std::vector<double> plain = rand({3, 4}).to_vector<double>();
  manual_seed(1);
  const Tensor base = zeros({4, 3});
  EXPECT_EQ(base.t().uniform_().to_vector<double>(), plain);
}

TEST(Random, MomentsAreThoseOfTheDistributions) {
  manual_seed(3);
  const Tensor u = rand({200000}, {.dtype = kFloat64}), n = randn({200000}, {.dtype = kFloat64});
  EXPECT_NEAR(u.mean().item<double>(), 0.5, 0.005);
  EXPECT_NEAR(u.var().item<double>(), 1.0 / 12, 0.002);
  EXPECT_NEAR(n.mean().item<double>(), 0, 0.01);
  EXPECT_NEAR(n.var().item<double>(), 1, 0.02);
  EXPECT_NEAR(n.pow(4).mean().item<double>(), 3, 0.1);
  EXPECT_GE(u.min().item<double>(), 0);
  EXPECT_LT(u.max().item<double>(), 1);
  EXPECT_NEAR(zeros({100000}).bernoulli_(0.3).mean().item<double>(), 0.3, 0.01);
  const Tensor i = randint(-3, 4, {70000});
  EXPECT_EQ(i.min().item<int>(), -3);
  EXPECT_EQ(i.max().item<int>(), 3);
  EXPECT_NEAR(i.to(kFloat64).mean().item<double>(), 0, 0.03);
}

TEST(Random, APermutationHoldsEveryNumberOnce) {
  const Tensor p = randperm(1000);
  std::vector<std::int64_t> values = p.to_vector<std::int64_t>();
  std::sort(values.begin(), values.end());
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], static_cast<std::int64_t>(i));
  EXPECT_NE(p.to_vector<std::int64_t>(), values);
}

TEST(Random, BadParametersAreErrors) {
  EXPECT_THROW(zeros({2}).uniform_(1, 0), Error);
  EXPECT_THROW(zeros({2}).normal_(0, -1), Error);
  EXPECT_THROW(zeros({2}).bernoulli_(1.5), Error);
  EXPECT_THROW(randint(3, 3, {2}), Error);
  EXPECT_THROW(zeros({2}, {.dtype = kInt64}).normal_(), Error);
  EXPECT_THROW(zeros({1}).expand({3}).uniform_(), Error);
}

TEST(Sequence, ArangeCountsAsPythonDoes) {
  EXPECT_THAT(arange(4).to_vector<std::int64_t>(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(arange(2, 7, 2).to_vector<std::int64_t>(), ElementsAre(2, 4, 6));
  EXPECT_THAT(arange(5, 0, -2).to_vector<std::int64_t>(), ElementsAre(5, 3, 1));
  EXPECT_THAT(arange(0, 1, 0.25).to_vector<double>(), ElementsAre(0, 0.25, 0.5, 0.75));
  EXPECT_EQ(arange(0).numel(), 0);
  EXPECT_THROW(arange(0, 5, 0), Error);
  EXPECT_THROW(arange(0, 5, -1), Error);
}

TEST(Sequence, LinspaceReachesBothEnds) {
  EXPECT_THAT(linspace(-1, 1, 5).to_vector<double>(), ElementsAre(-1, -0.5, 0, 0.5, 1));
  EXPECT_THAT(linspace(3, 4, 1).to_vector<double>(), ElementsAre(3));
  EXPECT_EQ(linspace(0, 1, 0).numel(), 0);
}

TEST(Sequence, EyeIsTheIdentity) {
  EXPECT_THAT(eye(2, 3).to_vector<double>(), ElementsAre(1, 0, 0, 0, 1, 0));
  EXPECT_THROW(eye(-1), Error);
}

}  // namespace
}  // namespace mindtorch
