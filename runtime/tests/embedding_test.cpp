// Table look-up and its gradient.
#include "mindtorch/runtime/ops/embedding.h"

#include "mindtorch/runtime/parallel.h"
#include "runtime/tests/reference.h"

namespace mindtorch {
namespace {

using namespace mindtorch::testing;
using ::testing::HasSubstr;

TEST(Embedding, TakesRowsByIntegersOfEitherType) {
  const Tensor table = tensor({0.0, 1.0, 10.0, 11.0, 20.0, 21.0}).reshape({3, 2});
  for (const ScalarType type : {kInt64, kInt32}) {
    const Tensor rows = embedding(table, tensor({2, 0, 2, 1}, {.dtype = type}).reshape({2, 2}));
    EXPECT_EQ(rows.sizes().vec(), (std::vector<std::int64_t>{2, 2, 2}));
    EXPECT_TRUE(is_close(rows, {20, 21, 0, 1, 20, 21, 10, 11}, 0));
  }
  EXPECT_TRUE(is_close(embedding(table.t().contiguous().t(), tensor({1})), {10, 11}, 0));
  EXPECT_EQ(embedding(table, zeros({0}, {.dtype = kInt64})).sizes().vec(), (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(embedding(table, scalar_tensor(1, {.dtype = kInt64})).sizes().vec(), (std::vector<std::int64_t>{2}));
}

TEST(Embedding, GradientAddsUpRowsThatAreTakenSeveralTimes) {
  const Tensor index = tensor({2, 0, 2, 1, 2});
  EXPECT_TRUE(gradcheck_twice([&](const TensorVector& in) { return embedding(in[0], index); }, {gradcheck_input({4, 3})}));
  EXPECT_TRUE(gradcheck_twice([&](const TensorVector& in) { return embedding(in[0], index); },
                              {gradcheck_input({3, 4}).detach().t().requires_grad_()}));
}

TEST(Embedding, TheGradientOfTheGradientLooksUpAgain) {
  const Tensor index = tensor({2, 0, 2});
  // Squared, so that there is a second derivative at all.
  const auto squares = [&](const TensorVector& in) {
    const Tensor rows = embedding(in[0], index, 0);
    return rows * rows;
  };
  EXPECT_FALSE(gradcheck(squares, {gradcheck_input({3, 2})}));  // finite differences see the padding row, the gradient does not
  const auto unpadded = [&](const TensorVector& in) {
    const Tensor rows = embedding(in[0], index);
    return rows * rows;
  };
  EXPECT_TRUE(gradcheck_twice(unpadded, {gradcheck_input({3, 2})}));
}

TEST(Embedding, PaddingRowGetsNoGradient) {
  const Tensor table = ones({3, 2}, {.requires_grad = true});
  embedding(table, tensor({1, 1, 2}), 1).sum().backward();
  EXPECT_TRUE(is_close(table.grad(), {0, 0, 0, 0, 1, 1}, 0));
}

TEST(Embedding, FrequencyDividesTheGradient) {
  const Tensor table = ones({3, 1}, {.requires_grad = true});
  embedding(table, tensor({1, 1, 1, 2}), -1, true).sum().backward();
  EXPECT_TRUE(is_close(table.grad(), {0, 1, 1}, 1e-7));
}

TEST(Embedding, LargeTablesAreTheSameWithAnyNumberOfThreads) {
  const auto gradient = [](int threads) {
    set_num_threads(threads);
    std::vector<std::int64_t> rows(3000);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int64_t>(i * 7919 % 50);
    const Tensor table = test_input({50, 64}).requires_grad_(), index = tensor<std::int64_t>(rows, {3000});
    (embedding(table, index) * test_input({3000, 64}, kFloat32, 9)).sum().backward();
    return table.grad().to_vector<float>();
  };
  const int before = get_num_threads();
  const std::vector<float> one = gradient(1), several = gradient(4);
  set_num_threads(before);
  EXPECT_EQ(one, several);
}

TEST(Embedding, RefusesWhatTorchRefuses) {
  const Tensor table = ones({3, 2});
  EXPECT_EQ(node_name(embedding(ones({3, 2}, {.requires_grad = true}), tensor({1}))), "EmbeddingBackward0");
  EXPECT_THAT(error_of<OutOfRange>([&] {
                embedding(table, tensor({0, 3}));
              }),
              HasSubstr("index out of range in self: index 3 at position 1"));
  EXPECT_THAT(error_of<OutOfRange>([&] { embedding(table, tensor({-1})); }), HasSubstr("index out of range"));
  EXPECT_THAT(error_of([&] { embedding(table, tensor({1.0})); }), HasSubstr("Long, Int; but got Float instead"));
  EXPECT_THAT(error_of([&] { embedding(ones({3}), tensor({1})); }), HasSubstr("'weight' must be 2-D"));
}

}  // namespace
}  // namespace mindtorch
