// Tests of the vectorisable elementary functions.
#include "mindtorch/runtime/kernels/cpu/vector_math.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace mindtorch::cpu {
namespace {

double worst_relative_error(const std::function<float(float)>& ours, const std::function<double(double)>& exact, double low, double high) {
  double worst = 0;
  for (int i = 0; i <= 200000; ++i) {
    const auto x = static_cast<float>(low + (high - low) * i / 200000);
    const double expected = exact(static_cast<double>(x));
    worst = std::max(worst, std::abs(static_cast<double>(ours(x)) - expected) / std::max(std::abs(expected), 1e-37));
  }
  return worst;
}

const float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(VectorMath, ExpIsAccurateAndHasTheRightLimits) {
  EXPECT_LT(worst_relative_error([](float x) { return math::exp(x); }, [](double x) { return std::exp(x); }, -87, 88.7), 3e-7);
  EXPECT_EQ(math::exp(0.0f), 1.0f);
  EXPECT_EQ(math::exp(-kInf), 0.0f);
  EXPECT_EQ(math::exp(kInf), kInf);
  EXPECT_EQ(math::exp(100.0f), kInf);
  EXPECT_GT(math::exp(-100.0f), 0.0f);  // subnormal
  EXPECT_TRUE(std::isnan(math::exp(kNan)));
}

TEST(VectorMath, TanhIsAccurateAlsoNearZero) {
  EXPECT_LT(worst_relative_error([](float x) { return math::tanh(x); }, [](double x) { return std::tanh(x); }, -12, 12), 4e-7);
  EXPECT_EQ(math::tanh(1e-20f), 1e-20f);
  EXPECT_EQ(math::tanh(-kInf), -1.0f);
  EXPECT_EQ(math::tanh(kInf), 1.0f);
  EXPECT_TRUE(std::isnan(math::tanh(kNan)));
}

TEST(VectorMath, ErfIsAccurateAlsoNearZero) {
  EXPECT_LT(worst_relative_error([](float x) { return math::erf(x); }, [](double x) { return std::erf(x); }, -6, 6), 4e-7);
  EXPECT_EQ(math::erf(kInf), 1.0f);
  EXPECT_EQ(math::erf(-0.0f), 0.0f);
  EXPECT_TRUE(std::isnan(math::erf(kNan)));
}

TEST(VectorMath, LogIsAccurateAroundOneAndForTinyNumbers) {
  const auto ours = [](float x) { return math::log(x); };
  const auto exact = [](double x) { return std::log(x); };
  EXPECT_LT(worst_relative_error(ours, exact, 1e-30, 0.9), 3e-7);
  EXPECT_LT(worst_relative_error(ours, exact, 0.9, 1.1), 3e-7);
  EXPECT_LT(worst_relative_error(ours, exact, 1.1, 1e30), 3e-7);
  EXPECT_NEAR(math::log(1e-40f), -92.1034, 1e-3);
  EXPECT_EQ(math::log(0.0f), -kInf);
  EXPECT_EQ(math::log(kInf), kInf);
  EXPECT_TRUE(std::isnan(math::log(-1.0f)));
  EXPECT_TRUE(std::isnan(math::log(kNan)));
}

TEST(VectorMath, SigmoidIsAccurateInBothTails) {
  EXPECT_LT(worst_relative_error([](float x) { return math::sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); }, -80, 40), 5e-7);
  EXPECT_EQ(math::sigmoid(-kInf), 0.0f);
  EXPECT_EQ(math::sigmoid(kInf), 1.0f);
}

}  // namespace
}  // namespace mindtorch::cpu
