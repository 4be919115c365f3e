// Values of pointwise ops against naive references, over shapes, strides, broadcasting, empty tensors and types.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string_view>

#include "mindtorch/runtime/pointwise.h"
#include "runtime/tests/naive.h"

namespace mindtorch::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int kRounds = 60;

double tolerance(ScalarType type, double value) { return type == kFloat64 ? 1e-12 * (1 + std::abs(value)) : 2e-6 * (1 + std::abs(value)); }

// Bytes have no sign: negative numbers wrap around.
double held_by(ScalarType type, double value) {
  return type == kUint8 ? static_cast<double>(static_cast<std::uint8_t>(static_cast<std::int64_t>(value))) : value;
}

void expect_values(const Tensor& found, const std::vector<std::int64_t>& sizes,
                   const std::function<double(const std::vector<std::int64_t>&)>& expected, const std::string& what) {
  ASSERT_EQ(found.sizes().vec(), sizes) << what;
  const Plain values = plain(found);
  std::size_t i = 0;
  each_index(sizes, [&](const std::vector<std::int64_t>& index) {
    const double e = expected(index), f = values.values[i++];
    if (std::isnan(e) || std::isinf(e))
      EXPECT_TRUE((std::isnan(e) && std::isnan(f)) || e == f) << what << ": " << f << " instead of " << e;
    else
      EXPECT_NEAR(f, e, tolerance(found.dtype(), e)) << what;
  });
}

std::vector<std::int64_t> broadcast(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  return IntArrayRef(broadcast_shape(a, b, "test")).vec();
}

struct BinaryOp {
  std::string name;
  Tensor (*op)(const Tensor&, const Tensor&);
  double (*reference)(double, double);
  bool floating_only = false;
};

std::vector<BinaryOp> binary_ops() {
  return {
      {"add", [](const Tensor& a, const Tensor& b) { return a + b; }, [](double a, double b) { return a + b; }, true},
      {"sub", [](const Tensor& a, const Tensor& b) { return a - b; }, [](double a, double b) { return a - b; }, true},
      {"mul", [](const Tensor& a, const Tensor& b) { return a * b; }, [](double a, double b) { return a * b; }, true},
      {"div", [](const Tensor& a, const Tensor& b) { return a / b; }, [](double a, double b) { return a / b; }},
      {"maximum", maximum, [](double a, double b) { return std::max(a, b); }},
      {"minimum", minimum, [](double a, double b) { return std::min(a, b); }},
      {"eq", [](const Tensor& a, const Tensor& b) { return eq(a, b); }, [](double a, double b) { return double(a == b); }},
      {"ne", [](const Tensor& a, const Tensor& b) { return ne(a, b); }, [](double a, double b) { return double(a != b); }},
      {"lt", [](const Tensor& a, const Tensor& b) { return lt(a, b); }, [](double a, double b) { return double(a < b); }},
      {"le", [](const Tensor& a, const Tensor& b) { return le(a, b); }, [](double a, double b) { return double(a <= b); }},
      {"gt", [](const Tensor& a, const Tensor& b) { return gt(a, b); }, [](double a, double b) { return double(a > b); }},
      {"ge", [](const Tensor& a, const Tensor& b) { return ge(a, b); }, [](double a, double b) { return double(a >= b); }},
      {"logical_and", logical_and, [](double a, double b) { return double(a != 0 && b != 0); }},
      {"logical_or", logical_or, [](double a, double b) { return double(a != 0 || b != 0); }},
  };
}

TEST(PointwiseValues, BinaryOpsAgreeWithTheirDefinition) {
  for (const BinaryOp& op : binary_ops()) {
    TensorMaker maker(17);
    for (int round = 0; round < kRounds; ++round) {
      const std::vector<std::int64_t> whole = maker.sizes();
      const std::vector<std::int64_t> sizes_a = maker.broadcastable(whole), sizes_b = maker.broadcastable(whole);
      const ScalarType type_a = op.floating_only ? maker.floating_type() : maker.type(),
                       type_b = op.floating_only ? maker.floating_type() : maker.type();
      // A zero-dimensional tensor takes the type of the other, which may not hold negative numbers.
      const double low = op.floating_only ? -4 : 0;
      const Tensor a = maker.make(sizes_a, type_a, low), b = maker.make(sizes_b, type_b, low);
      const Plain x = plain(a), y = plain(b);
      expect_values(
          op.op(a, b), broadcast(sizes_a, sizes_b),
          [&](const auto& index) { return op.reference(x.broadcast_at(index), y.broadcast_at(index)); }, op.name);
    }
  }
}

struct UnaryOp {
  std::string name;
  Tensor (*op)(const Tensor&);
  double (*reference)(double);
};

TEST(PointwiseValues, UnaryOpsAgreeWithTheirDefinition) {
  const std::vector<UnaryOp> ops = {
      {"neg", neg, [](double x) { return -x; }},
      {"abs", abs, [](double x) { return std::abs(x); }},
      {"sign", sign, [](double x) { return double((x > 0) - (x < 0)); }},
      {"relu", relu, [](double x) { return std::max(x, 0.0); }},
      {"floor", floor, [](double x) { return std::floor(x); }},
      {"ceil", ceil, [](double x) { return std::ceil(x); }},
      {"round", round, [](double x) { return std::nearbyint(x); }},
      {"trunc", trunc, [](double x) { return std::trunc(x); }},
      {"exp", exp, [](double x) { return std::exp(x); }},
      {"expm1", expm1, [](double x) { return std::expm1(x); }},
      {"log", log, [](double x) { return std::log(x); }},
      {"log1p", log1p, [](double x) { return std::log1p(x); }},
      {"log2", log2, [](double x) { return std::log2(x); }},
      {"sqrt", sqrt, [](double x) { return std::sqrt(x); }},
      {"rsqrt", rsqrt, [](double x) { return 1 / std::sqrt(x); }},
      {"sin", sin, [](double x) { return std::sin(x); }},
      {"cos", cos, [](double x) { return std::cos(x); }},
      {"tanh", tanh, [](double x) { return std::tanh(x); }},
      {"sigmoid", sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"erf", erf, [](double x) { return std::erf(x); }},
      {"square", square, [](double x) { return x * x; }},
      {"reciprocal", reciprocal, [](double x) { return 1 / x; }},
      {"logical_not", logical_not, [](double x) { return double(x == 0); }},
      {"isnan", isnan, [](double x) { return double(std::isnan(x)); }},
      {"isinf", isinf, [](double x) { return double(std::isinf(x)); }},
      {"isfinite", isfinite, [](double x) { return double(std::isfinite(x)); }},
  };
  const std::set<std::string_view> refuse_bool = {"neg", "abs", "relu", "floor", "ceil", "round", "trunc"};
  for (const UnaryOp& op : ops) {
    TensorMaker maker(5);
    for (int round = 0; round < kRounds; ++round) {
      const Tensor a = maker.make(maker.sizes(), maker.type());
      if (a.dtype() == kBool && refuse_bool.contains(op.name)) {
        EXPECT_THROW(op.op(a), Error) << op.name;
        continue;
      }
      const Plain x = plain(a);
      const Tensor found = op.op(a);
      expect_values(
          found, x.sizes, [&](const auto& index) { return held_by(found.dtype(), op.reference(x.at(index))); }, op.name);
    }
  }
}

TEST(PointwiseValues, InPlaceFormsWriteThroughStrides) {
  TensorMaker maker(11);
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<std::int64_t> sizes = maker.sizes();
    const Tensor a = maker.make(sizes, kFloat64), b = maker.make(maker.broadcastable(sizes), kFloat64);
    const Plain x = plain(a), y = plain(b);
    a.add_(b, 2).mul_(b).sub_(1.5);
    expect_values(
        a, sizes, [&](const auto& i) { return (x.at(i) + 2 * y.broadcast_at(i)) * y.broadcast_at(i) - 1.5; }, "in place");
  }
}

TEST(PointwiseValues, LargeTensorsAreComputedOnAllThreadsAlike) {
  const Tensor a = arange(300000).to(kFloat64).reshape({300, 1000}), b = a.t().contiguous().t();
  const std::vector<double> sum = (a + b).to_vector<double>();
  for (std::size_t i = 0; i < sum.size(); ++i) ASSERT_EQ(sum[i], 2.0 * static_cast<double>(i));
}

TEST(PointwiseValues, SelectionAgreesWithItsDefinition) {
  TensorMaker maker(23);
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<std::int64_t> whole = maker.sizes();
    const Tensor mask = maker.make(maker.broadcastable(whole), kBool), a = maker.make(maker.broadcastable(whole), kFloat32),
                 b = maker.make(maker.broadcastable(whole), kFloat64);
    const Plain m = plain(mask), x = plain(a), y = plain(b);
    const auto sizes = broadcast(broadcast(m.sizes, x.sizes), y.sizes);
    expect_values(
        where(mask, a, b), sizes, [&](const auto& i) { return m.broadcast_at(i) != 0 ? x.broadcast_at(i) : y.broadcast_at(i); }, "where");
    expect_values(
        masked_fill(a, mask, 7), broadcast(m.sizes, x.sizes), [&](const auto& i) { return m.broadcast_at(i) != 0 ? 7 : x.broadcast_at(i); },
        "masked_fill");
    expect_values(
        clamp(a, -1, 1.5), x.sizes, [&](const auto& i) { return std::clamp(x.at(i), -1.0, 1.5); }, "clamp");
    expect_values(
        addcmul(a, b, b, 0.5), broadcast(x.sizes, y.sizes),
        [&](const auto& i) { return x.broadcast_at(i) + 0.5 * y.broadcast_at(i) * y.broadcast_at(i); }, "addcmul");
  }
}

TEST(PointwiseValues, IntegersWrapAroundAndPowersAreExact) {
  EXPECT_EQ((full({1}, 200, {.dtype = kUint8}) + 100).item<int>(), 44);
  EXPECT_EQ(pow(full({1}, 3), 39).item<std::int64_t>(), 4052555153018976267);
  EXPECT_EQ(pow(full({1}, -2), 3).item<std::int64_t>(), -8);
  EXPECT_THROW(pow(full({1}, 2), -1), Error);
  EXPECT_EQ((full({1}, std::int64_t{1} << 62) + 1).item<std::int64_t>(), (std::int64_t{1} << 62) + 1);
}

TEST(PointwiseValues, NanIsKeptByExtremaAndClamp) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = tensor<double>({nan, 1}), y = tensor<double>({0, nan});
  EXPECT_TRUE(isnan(maximum(x, y)).all().item<bool>());
  EXPECT_TRUE(isnan(minimum(x, y)).all().item<bool>());
  EXPECT_TRUE(std::isnan(x.clamp(0, 1)[0].item<double>()));
  EXPECT_TRUE(std::isnan(relu(x)[0].item<double>()));
}

TEST(PointwiseValues, AWriteMayReadItsOwnOverlappingView) {
  const Tensor x = arange(5).to(kFloat64);
  x.slice(0, 1).add_(x.slice(0, 0, 4));
  EXPECT_THAT(x.to_vector<double>(), ElementsAre(0, 1, 3, 5, 7));
  const Tensor y = arange(4).to(kFloat64).view({2, 2});
  y.add_(y.t());
  EXPECT_THAT(y.to_vector<double>(), ElementsAre(0, 3, 3, 6));
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(PointwiseErrors, NameTheOpAndTheValues) {
  const Tensor a = ones({2, 3}), b = ones({2, 4});
  EXPECT_THAT(error_of([&] { a + b; }), HasSubstr("[aten::add] The size of tensor a (3) must match the size of tensor b (4) at "
                                                  "non-singleton dimension 1; the shapes are [2, 3] and [2, 4]"));
  EXPECT_THAT(error_of([&] { ones({3}).add_(a); }),
              HasSubstr("[aten::add_] output with shape [3] doesn't match the broadcast shape [2, 3]"));
  EXPECT_THAT(error_of([&] { ones({1}).expand({3}).add_(1); }),
              HasSubstr("more than one element of the written-to tensor refers to a single memory location"));
  EXPECT_THAT(error_of([&] { -ones({1}, {.dtype = kBool}); }), HasSubstr("Negation, the `-` operator, on a bool tensor is not supported"));
  EXPECT_THAT(error_of([&] { ones({1}, {.dtype = kBool}) - ones({1}, {.dtype = kBool}); }),
              HasSubstr("with two bool tensors is not supported"));
  EXPECT_THAT(error_of([&] { ones({1}, {.dtype = kInt64}).add_(0.5); }),
              HasSubstr("result type Float can't be cast to the desired output type Long"));
  EXPECT_THAT(error_of([&] { where(a, a, a); }), HasSubstr("expected condition to be a boolean tensor, but got a tensor with dtype Float"));
  EXPECT_THAT(error_of([&] { clamp(a, std::nullopt); }), HasSubstr("At least one of 'min' or 'max' must not be None"));
  EXPECT_THAT(error_of([&] { add(ones({1}, {.dtype = kInt64}), 1, 0.5); }),
              HasSubstr("argument alpha must not be a floating point number"));
}

}  // namespace
}  // namespace mindtorch::testing
