// Activation functions against references in double, and their first and second derivatives.
#include "mindtorch/runtime/ops/activation.h"

#include "runtime/tests/reference.h"

namespace mindtorch {
namespace {

using namespace mindtorch::testing;
using ::testing::HasSubstr;

struct Case {
  const char* name;
  std::function<Tensor(const Tensor&)> function;
  double (*reference)(double);
  const char* node;
};

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {"gelu", [](const Tensor& x) { return gelu(x); }, [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); },
       "GeluBackward0"},
      {"gelu_tanh", [](const Tensor& x) { return gelu(x, "tanh"); },
       [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }, "GeluBackward0"},
      {"silu", [](const Tensor& x) { return silu(x); }, [](double x) { return x * sigmoid_of(x); }, "SiluBackward0"},
      {"leaky_relu", [](const Tensor& x) { return leaky_relu(x, 0.2); }, [](double x) { return x > 0 ? x : 0.2 * x; },
       "LeakyReluBackward0"},
      {"elu", [](const Tensor& x) { return elu(x, 1.5, 0.7, 1.2); },
       [](double x) { return x > 0 ? 0.7 * x : 0.7 * 1.5 * std::expm1(1.2 * x); }, "EluBackward0"},
      {"softplus", [](const Tensor& x) { return softplus(x, 2, 3); },
       [](double x) { return 2 * x > 3 ? x : std::log1p(std::exp(2 * x)) / 2; }, "SoftplusBackward0"},
      {"log_sigmoid", [](const Tensor& x) { return log_sigmoid(x); }, [](double x) { return std::log(sigmoid_of(x)); },
       "LogSigmoidBackward0"},
  };
  return list;
}

TEST(Activation, ValuesMatchReferencesInEveryLayout) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(c.name);
    const Reference reference = [&c](std::vector<double> values, IntArrayRef) {
      for (double& value : values) value = c.reference(value);
      return values;
    };
    for (const std::vector<std::int64_t>& sizes : std::vector<std::vector<std::int64_t>>{{}, {0}, {1}, {67}, {5, 7}, {3, 4, 5}, {40, 1100}})
      expect_matches(c.function, reference, sizes, -4, 4);
  }
}

TEST(Activation, FirstAndSecondDerivativesMatchFiniteDifferences) {
  for (const Case& c : cases())
    EXPECT_TRUE(gradcheck_twice([&c](const TensorVector& in) { return c.function(in[0]); }, {gradcheck_input({3, 5}, 3, -2, 2)})) << c.name;
}

TEST(Activation, BackwardNodesHaveTorchsNames) {
  for (const Case& c : cases()) EXPECT_EQ(node_name(c.function(gradcheck_input({2, 2}))), c.node);
}

TEST(Activation, InPlaceFormsWriteAndDifferentiate) {
  const std::vector<std::pair<std::function<Tensor(const Tensor&)>, std::function<Tensor(const Tensor&)>>> pairs = {
      {[](const Tensor& x) { return silu(x); }, [](const Tensor& x) { return silu_(x); }},
      {[](const Tensor& x) { return leaky_relu(x, 0.3); }, [](const Tensor& x) { return leaky_relu_(x, 0.3); }},
      {[](const Tensor& x) { return elu(x); }, [](const Tensor& x) { return elu_(x); }},
  };
  for (const auto& [function, in_place] : pairs) {
    const Tensor input = gradcheck_input({4, 3}, 5), values = input.detach().clone();
    const std::uint32_t version = values.version();
    in_place(values);
    EXPECT_TRUE(is_close(values, function(input.detach()).to_vector<double>(), 1e-15));
    EXPECT_GT(values.version(), version);
    EXPECT_TRUE(gradcheck_twice([&written = in_place](const TensorVector& in) { return written(in[0] * 2); }, {input}));
  }
}

TEST(Activation, LimitsAreExact) {
  const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
  const Tensor x = tensor({infinity, -infinity, nan, 0.0, 100.0, -100.0});
  EXPECT_TRUE(is_close(silu(x), {infinity, nan, nan, 0, 100, 0}, 1e-30));
  EXPECT_TRUE(is_close(softplus(x), {infinity, 0, nan, std::log(2.0), 100, 0}, 1e-7));
  EXPECT_TRUE(is_close(log_sigmoid(x), {0, -infinity, nan, -std::log(2.0), 0, -100}, 1e-7));
  EXPECT_TRUE(is_close(leaky_relu(x, 0.5), {infinity, -infinity, nan, 0, 100, -50}, 0));
}

TEST(Activation, RefusesWhatTorchRefuses) {
  EXPECT_THAT(error_of([] { gelu(ones({2}), "sigmoid"); }), HasSubstr("approximate argument must be either none or tanh"));
  for (const Case& c : cases())
    EXPECT_THAT(error_of([&c] { c.function(ones({2}, {.dtype = kInt64})); }), HasSubstr("not implemented for 'Long'"));
  const Tensor leaf = ones({2}, {.requires_grad = true});
  EXPECT_THAT(error_of([&] { silu_(leaf); }), HasSubstr("a leaf Variable that requires grad is being used in an in-place operation"));
}

}  // namespace
}  // namespace mindtorch
