// Tests of the autograd engine's rules.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "mindtorch/runtime/autograd/engine.h"
#include "mindtorch/runtime/autograd/node.h"
#include "mindtorch/runtime/functions.h"
#include "runtime/tests/gradcheck.h"

namespace mindtorch {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing::gradcheck;
using testing::gradcheck_input;
using ::testing::HasSubstr;

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

Tensor leaf(std::initializer_list<double> values) { return tensor<double>(values, {.dtype = kFloat64, .requires_grad = true}); }
std::vector<double> values(const Tensor& t) { return t.to_vector<double>(); }

TEST(Autograd, GradientOfASumOfSquaresIsTwiceTheInput) {
  const Tensor x = leaf({1, -2, 3});
  (x * x).sum().backward();
  EXPECT_THAT(values(x.grad()), ElementsAre(2, -4, 6));
}

TEST(Autograd, GradientsAccumulateOverCalls) {
  const Tensor x = leaf({1, 2});
  x.sum().backward();
  (x * 3).sum().backward();
  EXPECT_THAT(values(x.grad()), ElementsAre(4, 4));
}

TEST(Autograd, AnInputUsedTwiceGetsBothGradients) {
  const Tensor x = leaf({2});
  const Tensor y = x * 3;
  (y * y + y).sum().backward();
  EXPECT_THAT(values(x.grad()), ElementsAre(3 * (2 * 6 + 1)));
}

TEST(Autograd, BroadcastDimensionsAreSummed) {
  const Tensor x = gradcheck_input({3}, 1), y = gradcheck_input({2, 1, 3}, 2), z = gradcheck_input({4, 1}, 3);
  EXPECT_TRUE(gradcheck([](const TensorVector& in) { return (in[0] + in[1]) * in[2] / (in[1] + 3); }, {x, y, z}));
}

TEST(Autograd, StridedAndTransposedInputsHaveRightGradients) {
  const Tensor x = gradcheck_input({3, 4}, 1), y = gradcheck_input({4, 3}, 2);
  EXPECT_TRUE(gradcheck([](const TensorVector& in) { return (in[0].t() * in[1]).reshape({2, 6}).transpose(0, 1).sum({0}); }, {x, y}));
}

TEST(Autograd, SecondBackwardWithoutRetainGraphNamesTheRemedy) {
  const Tensor x = leaf({1});
  const Tensor y = (x * x).sum();
  y.backward();
  EXPECT_THAT(error_of([&] { y.backward(); }), HasSubstr("Trying to backward through the graph a second time"));
}

TEST(Autograd, RetainGraphAllowsASecondBackward) {
  const Tensor x = leaf({3});
  const Tensor y = (x * x).sum();
  y.backward({}, true);
  y.backward();
  EXPECT_THAT(values(x.grad()), ElementsAre(12));
}

TEST(Autograd, AGraphWithoutSavedTensorsMayRunTwice) {
  const Tensor x = leaf({3});
  const Tensor y = (x + x).sum();
  y.backward();
  y.backward();
  EXPECT_THAT(values(x.grad()), ElementsAre(4));
}

TEST(Autograd, ChangingASavedTensorInPlaceIsAnError) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x * 2;
  const Tensor z = (y * y).sum();
  y.add_(1);
  EXPECT_THAT(
      error_of([&] { z.backward(); }),
      ::testing::AllOf(
          HasSubstr(
              "one of the variables needed for gradient computation has been modified by an inplace operation: [torch.DoubleTensor [2]]"),
          HasSubstr("is at version 1; expected version 0 instead")));
}

TEST(Autograd, ChangingATensorThatIsNotSavedIsFine) {
  const Tensor x = leaf({1, 2});
  const Tensor y = x + 2;
  const Tensor z = y + 1;
  y.mul_(5);
  (y + z).sum().backward();
  EXPECT_THAT(values(x.grad()), ElementsAre(6, 6));
}

TEST(Autograd, InPlaceOnALeafIsRefused) {
  const Tensor x = leaf({1});
  EXPECT_THAT(error_of([&] { x.add_(1); }), HasSubstr("a leaf Variable that requires grad is being used in an in-place operation."));
  EXPECT_THAT(error_of([&] {
                x.view({1, 1}).add_(1);
              }),
              HasSubstr("a view of a leaf Variable that requires grad is being used in an in-place operation."));
  NoGradGuard no_grad;
  x.add_(1);
  EXPECT_THAT(values(x), ElementsAre(2));
}

TEST(Autograd, InPlaceOpsAreDifferentiated) {
  const Tensor x = gradcheck_input({2, 3}, 1), y = gradcheck_input({3}, 2, 1, 2);
  EXPECT_TRUE(gradcheck(
      [](const TensorVector& in) {
        const Tensor a = in[0] * 2;
        a.mul_(in[1]);
        a.add_(in[0], 3);
        a.div_(in[1]);
        a.sub_(1.5);
        return a.neg_();
      },
      {x, y}));
}

TEST(Autograd, AWriteThroughAViewReachesTheBase) {
  const Tensor x = gradcheck_input({3, 4}, 1), y = gradcheck_input({4}, 2);
  EXPECT_TRUE(gradcheck(
      [](const TensorVector& in) {
        const Tensor base = in[0] * in[0];
        const Tensor row = base.as_strided({4}, {1}, 4);
        row.mul_(in[1]);
        return base * in[0] + row;
      },
      {x, y}));
}

TEST(Autograd, ABaseWithoutGradientGetsOneThroughItsView) {
  const Tensor y = leaf({2, 3});
  const Tensor base = zeros({2, 2}, {.dtype = kFloat64});
  const Tensor column = base.t().as_strided({2}, {2}, 1);
  column.copy_(y);
  EXPECT_TRUE(base.requires_grad());
  (base * base).sum().backward();
  EXPECT_THAT(values(y.grad()), ElementsAre(4, 6));
}

TEST(Autograd, AViewSeesWritesToItsBase) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor base = x * 1;
  const Tensor view = base.view({2, 2});
  base.mul_(10);
  EXPECT_EQ(view.grad_fn()->name(), "AsStridedBackward0");
  (view * view).sum().backward();
  EXPECT_THAT(values(x.grad()), ElementsAre(200, 400, 600, 800));
}

TEST(Autograd, ResultsOfIntegersHaveNoGradient) {
  const Tensor x = ones({2, 3}, {.requires_grad = true});
  const auto [values, indices] = x.max(1);
  EXPECT_TRUE(values.requires_grad());
  EXPECT_FALSE(indices.requires_grad());
  EXPECT_FALSE(x.to(kInt64).requires_grad());
  EXPECT_FALSE(zeros({2, 3}, {.dtype = kInt64}).copy_(x).requires_grad());
  EXPECT_THROW(x.sum(kInt64), Error) << "the gradient would be lost without a word";
}

TEST(Autograd, NoGradRecordsNothing) {
  const Tensor x = leaf({1});
  NoGradGuard no_grad;
  EXPECT_FALSE((x * 2).requires_grad());
  EnableGradGuard grad;
  EXPECT_TRUE((x * 2).requires_grad());
}

TEST(Autograd, DetachStopsTheGradient) {
  const Tensor x = leaf({3});
  const Tensor y = x.detach() * x;
  y.sum().backward();
  EXPECT_THAT(values(x.grad()), ElementsAre(3));
  EXPECT_FALSE(x.detach().requires_grad());
}

TEST(Autograd, GradReturnsGradientsWithoutAccumulating) {
  const Tensor x = leaf({2}), y = leaf({5});
  const Tensor z = x * x * y;
  const TensorVector grads = autograd::grad(z, {y, x});
  EXPECT_THAT(values(grads[0]), ElementsAre(4));
  EXPECT_THAT(values(grads[1]), ElementsAre(20));
  EXPECT_FALSE(x.grad().defined());
}

TEST(Autograd, GradOfAnIntermediateTensorIsCaptured) {
  const Tensor x = leaf({2});
  const Tensor y = x * 3;
  const Tensor z = y * y;
  EXPECT_THAT(values(autograd::grad(z, y)[0]), ElementsAre(12));
}

TEST(Autograd, UnusedInputsAreAnErrorUnlessAllowed) {
  const Tensor x = leaf({2}), unused = leaf({1});
  const Tensor z = x * x;
  EXPECT_THAT(error_of([&] { autograd::grad(z, {x, unused}, {}, true); }), HasSubstr("appears to not have been used in the graph"));
  EXPECT_FALSE(autograd::grad(z, {x, unused}, {}, true, false, true)[1].defined());
}

TEST(Autograd, CreateGraphGivesHigherDerivatives) {
  const Tensor x = leaf({2});
  const Tensor y = x * x * x;
  const Tensor first = autograd::grad(y, x, {}, std::nullopt, true)[0];
  const Tensor second = autograd::grad(first, x, {}, std::nullopt, true)[0];
  const Tensor third = autograd::grad(second, x)[0];
  EXPECT_THAT(values(first), ElementsAre(12));
  EXPECT_THAT(values(second), ElementsAre(12));
  EXPECT_THAT(values(third), ElementsAre(6));
}

TEST(Autograd, BackwardOfANonScalarNeedsAGradient) {
  const Tensor x = leaf({1, 2});
  EXPECT_THAT(error_of([&] { (x * 2).backward(); }), HasSubstr("grad can be implicitly created only for scalar outputs"));
  (x * 2).backward(tensor<double>({1, 10}, {.dtype = kFloat64}));
  EXPECT_THAT(values(x.grad()), ElementsAre(2, 20));
  EXPECT_THAT(error_of([&] { (x * 2).backward(ones({3})); }), HasSubstr("Mismatch in shape"));
}

TEST(Autograd, BackwardOfATensorWithoutGraphIsAnError) {
  EXPECT_THAT(error_of([&] { ones({1}).backward(); }), HasSubstr("element 0 of tensors does not require grad and does not have a grad_fn"));
}

TEST(Autograd, HooksSeeAndReplaceGradients) {
  const Tensor x = leaf({1});
  const Tensor y = x * 2;
  std::vector<double> seen;
  y.register_hook([&](const Tensor& grad) {
    seen.push_back(grad.item<double>());
    return grad * 10;
  });
  const std::uint64_t id = x.register_hook([&](const Tensor& grad) {
    seen.push_back(grad.item<double>());
    return Tensor();
  });
  (y * 3).sum().backward();
  EXPECT_THAT(seen, ElementsAre(3, 60));
  EXPECT_THAT(values(x.grad()), ElementsAre(60));
  x.remove_hook(id);
  (x * 5).sum().backward();
  EXPECT_EQ(seen.size(), 2u);
}

TEST(Autograd, RetainGradKeepsTheGradientOfAnIntermediateTensor) {
  const Tensor x = leaf({2});
  const Tensor y = x * 3;
  y.retain_grad();
  (y * y).sum().backward();
  EXPECT_THAT(values(y.grad()), ElementsAre(12));
  EXPECT_TRUE(x.is_leaf());
  EXPECT_FALSE(y.is_leaf());
}

TEST(Autograd, NodesHaveNamesEdgesAndRisingNumbers) {
  const Tensor x = leaf({1}), y = leaf({2});
  const Tensor a = x * y, b = a + x;
  EXPECT_EQ(a.grad_fn()->name(), "MulBackward0");
  EXPECT_EQ(b.grad_fn()->name(), "AddBackward0");
  EXPECT_GT(b.grad_fn()->sequence_nr(), a.grad_fn()->sequence_nr());
  EXPECT_EQ(b.grad_fn()->next_edge(0).function.get(), a.grad_fn().get());
  EXPECT_EQ(b.grad_fn()->next_edge(1).function->name(), "torch::autograd::AccumulateGrad");
  EXPECT_EQ(b.grad_fn()->next_edge(1).function.get(), a.grad_fn()->next_edge(0).function.get());
}

TEST(Autograd, ExceptionsInTheGraphReachTheCaller) {
  const Tensor x = leaf({1});
  const Tensor y = x * 2;
  y.register_hook([](const Tensor&) -> Tensor { throw std::runtime_error("hook failed"); });
  EXPECT_THROW(y.sum().backward(), std::runtime_error);
  (x * 2).sum().backward();
  EXPECT_THAT(values(x.grad()), ElementsAre(2));
}

TEST(Autograd, AHookMayRunABackwardOfItsOwn) {
  const Tensor x = leaf({1}), z = leaf({4});
  const Tensor y = x * 2;
  y.register_hook([&](const Tensor&) {
    EnableGradGuard grad;
    (z * z).sum().backward();
    return Tensor();
  });
  y.sum().backward();
  EXPECT_THAT(values(z.grad()), ElementsAre(8));
}

TEST(Autograd, AMillionNodesAreEvaluatedAndFreedWithoutRecursion) {
  const Tensor x = leaf({0});
  Tensor y = x;
  for (int i = 0; i < 200000; ++i) y = y + 1;
  y.backward();
  EXPECT_THAT(values(x.grad()), ElementsAre(1));
}

TEST(Autograd, TwoThreadsMayDifferentiateTheSameLeaf) {
  const Tensor x = leaf({1});
  const auto work = [&] {
    for (int i = 0; i < 200; ++i) (x * 2).sum().backward();
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_THAT(values(x.grad()), ElementsAre(800));
}

TEST(Autograd, MatrixProductsAreDifferentiated) {
  const Tensor a = gradcheck_input({3, 4}, 1), b = gradcheck_input({4, 2}, 2), c = gradcheck_input({2}, 3), t = gradcheck_input({2, 4}, 4);
  EXPECT_TRUE(gradcheck([](const TensorVector& in) { return mm(in[0], in[1]); }, {a, b}));
  EXPECT_TRUE(gradcheck([](const TensorVector& in) { return mm(in[0], in[1].t()); }, {a, t}));
  EXPECT_TRUE(gradcheck([](const TensorVector& in) { return addmm(in[2], in[0], in[1], 0.5, 2); }, {a, b, c}));
}

TEST(Autograd, ReductionsAreDifferentiatedInEveryDimension) {
  const Tensor a = gradcheck_input({2, 3, 4}, 1);
  for (const bool keepdim : {false, true})
    for (const std::vector<std::int64_t>& dims : std::vector<std::vector<std::int64_t>>{{0}, {1}, {-1}, {0, 2}, {0, 1, 2}}) {
      EXPECT_TRUE(gradcheck([&](const TensorVector& in) { return in[0].sum(dims, keepdim) * in[0].sum(); }, {a}));
      EXPECT_TRUE(gradcheck([&](const TensorVector& in) { return in[0].transpose(0, 2).mean(dims, keepdim) * in[0].mean(); }, {a}));
    }
}

}  // namespace
}  // namespace mindtorch
