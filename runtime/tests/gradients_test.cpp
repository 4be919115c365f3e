// Gradients of every op against finite differences, first and second order, on contiguous and on strided inputs.
#include <gtest/gtest.h>

#include "runtime/tests/nn_op_cases.h"

namespace mindtorch::testing {
namespace {

class GradientsTest : public ::testing::TestWithParam<OpCase> {};

TEST_P(GradientsTest, AgreeWithFiniteDifferences) {
  const OpCase& op = GetParam();
  EXPECT_TRUE(gradcheck(op.function, op.inputs(), {.second_order = op.second_order}));
}

// Every other element of a larger tensor, dimensions reversed in memory.
Tensor with_gaps(const Tensor& input) {
  DimVector sizes(input.sizes()), reversed;
  for (std::size_t i = sizes.size(); i-- > 0;) reversed.push_back(2 * sizes[i]);
  Tensor holder = zeros(reversed, {.dtype = kFloat64});
  DimVector dims;
  for (std::int64_t d = input.dim() - 1; d >= 0; --d) dims.push_back(d);
  Tensor part = holder.permute(dims);
  for (std::int64_t d = 0; d < input.dim(); ++d) part = part.slice(d, 0, std::nullopt, 2);
  part.copy_(input.detach());
  return part.detach().requires_grad_();
}

TEST_P(GradientsTest, DoNotDependOnTheStridesOfTheInputs) {
  const OpCase& op = GetParam();
  const TensorVector plain = op.inputs();
  TensorVector strided;
  for (const Tensor& input : plain) strided.push_back(with_gaps(input));
  if (op.name == "as_strided" || op.name == "view") return;  // about memory, not about elements
  const Tensor expected = op.function(plain), found = op.function(strided);
  ASSERT_EQ(found.sizes(), expected.sizes());
  const std::vector<double> a = expected.to_vector<double>(), b = found.to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-12);
  const TensorVector wanted = autograd::grad(weighted_sum(expected), plain, {}, std::nullopt, false, true);
  const TensorVector grads = autograd::grad(weighted_sum(found), strided, {}, std::nullopt, false, true);
  for (std::size_t i = 0; i < grads.size(); ++i) {
    ASSERT_EQ(grads[i].defined(), wanted[i].defined());
    if (!grads[i].defined()) continue;
    const std::vector<double> x = wanted[i].to_vector<double>(), y = grads[i].to_vector<double>();
    for (std::size_t e = 0; e < x.size(); ++e) EXPECT_NEAR(x[e], y[e], 1e-12) << "input " << i << " element " << e;
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, GradientsTest, ::testing::ValuesIn(every_op_case()), [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace mindtorch::testing
