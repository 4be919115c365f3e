// Values of matrix products against naive references, over layouts, types and empty matrices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/tests/naive.h"

namespace mindtorch::testing {
namespace {

using ::testing::HasSubstr;

void expect_product(const Tensor& found, const Plain& a, const Plain& b, const std::string& what) {
  const std::int64_t inner = a.sizes.back();
  const Plain values = plain(found);
  each_index(values.sizes, [&](std::vector<std::int64_t> index) {
    double expected = 0;
    for (std::int64_t k = 0; k < inner; ++k) {
      std::vector<std::int64_t> at_a(index), at_b(index);
      at_a.back() = k;
      at_b[at_b.size() - 2] = k;
      expected += a.broadcast_at(at_a) * b.broadcast_at(at_b);
    }
    EXPECT_NEAR(values.at(index), expected, 1e-4 * (1 + std::abs(expected))) << what;
  });
}

TEST(Matmul, AgreesWithTheDefinitionInEveryLayout) {
  TensorMaker maker(9);
  for (int round = 0; round < 150; ++round) {
    const auto size = [&] { return maker.number(0, 12) == 0 ? std::int64_t{0} : static_cast<std::int64_t>(maker.number(1, 6)); };
    const std::int64_t n = size(), k = size(), m = size(), batch = size();
    const ScalarType type = maker.number(0, 3) == 0 ? kInt64 : maker.floating_type();
    const Tensor a = maker.make({n, k}, type), b = maker.make({k, m}, type);
    expect_product(mm(a, b), plain(a), plain(b), "mm");
    const Tensor c = maker.make({batch, n, k}, type), d = maker.make({batch, k, m}, type);
    expect_product(bmm(c, d), plain(c), plain(d), "bmm");
    const Tensor e = maker.make({2, 1, n, k}, type), f = maker.make({3, k, m}, type);
    expect_product(matmul(e, f), plain(e), plain(f), "matmul");
    expect_product(matmul(e, b), plain(e), plain(b), "folded");
  }
}

TEST(Matmul, AddmmScalesAndBroadcasts) {
  const Tensor a = arange(6).to(kFloat64).view({2, 3}), b = arange(12).to(kFloat64).view({3, 4}), bias = arange(4).to(kFloat64);
  const Tensor expected = mm(a, b) * 2 + bias * 0.5;
  EXPECT_EQ(addmm(bias, a, b, 0.5, 2).to_vector<double>(), expected.to_vector<double>());
  const Tensor nan = full({4}, NAN, {.dtype = kFloat64});
  EXPECT_EQ(addmm(nan, a, b, 0).to_vector<double>(), mm(a, b).to_vector<double>());
  EXPECT_EQ(baddbmm(bias, a.unsqueeze(0), b.unsqueeze(0), 0.5, 2).to_vector<double>(), expected.to_vector<double>());
}

TEST(Matmul, AnEmptyInnerDimensionGivesZeros) {
  EXPECT_EQ(mm(empty({2, 0}), empty({0, 3})).to_vector<double>(), std::vector<double>(6, 0.0));
  EXPECT_EQ(addmm(ones({3}), empty({2, 0}), empty({0, 3})).to_vector<double>(), std::vector<double>(6, 1.0));
}

TEST(Matmul, VectorsAreRowsOrColumns) {
  const Tensor v = arange(3).to(kFloat64), m = arange(6).to(kFloat64).view({2, 3});
  EXPECT_EQ(dot(v, v).item<double>(), 5);
  EXPECT_EQ(matmul(m, v).to_vector<double>(), (std::vector<double>{5, 14}));
  EXPECT_EQ(matmul(v, m.t()).to_vector<double>(), (std::vector<double>{5, 14}));
  EXPECT_EQ(mv(m.t().contiguous().t(), v.repeat({2}).slice(0, 0, std::nullopt, 1).slice(0, 0, 3)).to_vector<double>(),
            (std::vector<double>{5, 14}));
}

TEST(Matmul, LinearWorksWithAndWithoutBias) {
  const Tensor x = arange(12).to(kFloat64).view({2, 2, 3}), w = arange(6).to(kFloat64).view({2, 3}), b = arange(2).to(kFloat64);
  const Tensor expected = matmul(x, w.t());
  EXPECT_EQ(linear(x, w).to_vector<double>(), expected.to_vector<double>());
  EXPECT_EQ(linear(x, w, b).to_vector<double>(), (expected + b).to_vector<double>());
  EXPECT_EQ(linear(x[0][0], w, b).to_vector<double>(), (expected + b)[0][0].to_vector<double>());
}

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(MatmulErrors, NameTheShapes) {
  EXPECT_THAT(error_of([] { mm(ones({2, 3}), ones({4, 5})); }), HasSubstr("mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)"));
  EXPECT_THAT(error_of([] { mm(ones({2}), ones({2, 2})); }), HasSubstr("expected two 2D tensors, got 1D and 2D"));
  EXPECT_THAT(error_of([] {
                mm(ones({2, 2}), ones({2, 2}, {.dtype = kFloat64}));
              }),
              HasSubstr("to have the same dtype, but got: Float != Double"));
  EXPECT_THAT(error_of([] { bmm(ones({2, 2, 2}), ones({3, 2, 2})); }), HasSubstr("batch sizes must match"));
  EXPECT_THAT(error_of([] { matmul(ones({}), ones({2})); }), HasSubstr("both arguments to matmul need to be at least 1D"));
  EXPECT_THAT(error_of([] { dot(ones({2}), ones({3})); }), HasSubstr("inconsistent tensor size"));
}

}  // namespace
}  // namespace mindtorch::testing
