// Dropout: how much is dropped, that it can be repeated, and its gradient.
#include "mindtorch/runtime/ops/dropout.h"

#include "mindtorch/runtime/parallel.h"
#include "runtime/tests/reference.h"

namespace mindtorch {
namespace {

using namespace mindtorch::testing;
using ::testing::HasSubstr;

TEST(Dropout, DropsTheShareItIsTold) {
  for (const double p : {0.1, 0.5, 0.9}) {
    manual_seed(1);
    const std::vector<double> out = dropout(full({100, 101}, 3.0), p, true).to_vector<double>();
    const double kept = static_cast<double>(std::count_if(out.begin(), out.end(), [](double value) { return value != 0; }));
    EXPECT_NEAR(kept / 10100, 1 - p, 0.02);
    for (const double value : out) EXPECT_TRUE(value == 0 || std::abs(value - 3 / (1 - p)) < 1e-5) << value;
  }
}

TEST(Dropout, TheSameSeedDropsTheSameElementsWithAnyNumberOfThreads) {
  const int before = get_num_threads();
  const auto run = [](std::uint64_t seed, int threads) {
    set_num_threads(threads);
    manual_seed(seed);
    return dropout(ones({300, 301}), 0.5, true).to_vector<float>();
  };
  EXPECT_EQ(run(1, 1), run(1, 4));
  EXPECT_NE(run(1, 1), run(2, 1));
  set_num_threads(before);
  manual_seed(1);
  EXPECT_NE(dropout(ones({300}), 0.5, true).to_vector<float>(), dropout(ones({300}), 0.5, true).to_vector<float>());
}

TEST(Dropout, LeavesTheInputAloneOutsideOfTraining) {
  const Tensor x = ones({5});
  EXPECT_TRUE(dropout(x, 0.5, false).is_same(x));
  EXPECT_TRUE(dropout(x, 0, true).is_same(x));
  EXPECT_TRUE(is_close(dropout(x, 1, true), {0, 0, 0, 0, 0}, 0));
}

TEST(Dropout, TheGradientIsZeroWhereTheOutputIs) {
  const auto function = [](const TensorVector& in) {
    manual_seed(4);
    return dropout(in[0].t(), 0.4, true);
  };
  EXPECT_TRUE(gradcheck_twice(function, {gradcheck_input({4, 5})}));
  EXPECT_TRUE(gradcheck_twice([&](const TensorVector& in) { return function(in) * function(in); }, {gradcheck_input({4, 5})}));
  EXPECT_EQ(node_name(dropout(gradcheck_input({2}), 0.5, true)), "NativeDropoutBackward0");
}

TEST(Dropout, RefusesWhatTorchRefuses) {
  EXPECT_THAT(error_of([] { dropout(ones({2}), 1.5, true); }), HasSubstr("dropout probability has to be between 0 and 1, but got 1.5"));
  EXPECT_THAT(error_of([] { dropout(ones({2}, {.dtype = kInt64}), 0.5, true); }), HasSubstr("not implemented for 'Long'"));
}

}  // namespace
}  // namespace mindtorch
