// Indexing by tensors and masks, against naive references and finite differences; positions of elements.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/tests/gradcheck.h"
#include "runtime/tests/naive.h"

namespace mindtorch::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor integers(std::vector<std::int64_t> values) { return tensor<std::int64_t>(values, {static_cast<std::int64_t>(values.size())}); }
Tensor leaf(IntArrayRef sizes) { return randn(sizes, {.dtype = kFloat64}).requires_grad_(); }

template <class E>
std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

TEST(Index, PicksAnElementForEachTupleOfIndicesInEveryLayout) {
  TensorMaker maker(5);
  for (int round = 0; round < 50; ++round) {
    const Tensor x = maker.make({4, 5, 3}, kFloat64), rows = integers({3, 0, -1, 1}), columns = integers({4, -5, 2, 2});
    const Plain from = plain(x), got = plain(index(x, {rows, columns}));
    EXPECT_EQ(got.sizes, (std::vector<std::int64_t>{4, 3}));
    each_index(got.sizes, [&](const std::vector<std::int64_t>& at) {
      const std::int64_t row = rows[at[0]].item().to_int(), column = columns[at[0]].item().to_int();
      EXPECT_EQ(got.at(at), from.at({(row + 4) % 4, (column + 5) % 5, at[1]}));
    });
  }
}

TEST(Index, SizesStandWhereTheIndexedDimensionsWereAndInFrontIfTheyLieApart) {
  const Tensor x = zeros({4, 5, 3, 2}), two = zeros({6, 7}, {.dtype = kInt64}), none;
  EXPECT_EQ(index(x, {none, two, two}).sizes().vec(), (std::vector<std::int64_t>{4, 6, 7, 2}));
  EXPECT_EQ(index(x, {none, two, none, two}).sizes().vec(), (std::vector<std::int64_t>{6, 7, 4, 3}));
  EXPECT_EQ(index(x, {two}).sizes().vec(), (std::vector<std::int64_t>{6, 7, 5, 3, 2}));
}

TEST(Index, AMaskTakesAsManyDimensionsAsItHas) {
  const Tensor x = arange(12).reshape({2, 3, 2}), mask = tensor<std::int64_t>({1, 0, 0, 0, 1, 1}, {2, 3}).to(kBool);
  EXPECT_THAT(index(x, {mask}).to_vector<double>(), ElementsAre(0, 1, 8, 9, 10, 11));
  EXPECT_THAT(index(x, {mask, zeros({3}, {.dtype = kInt64})}).to_vector<double>(), ElementsAre(0, 8, 10));
}

TEST(Index, RefusesWhatIsOutsideOfTheTensor) {
  const Tensor x = zeros({2, 3});
  EXPECT_THAT(error_of<OutOfRange>([&] {
                index(x, {Tensor(), integers({3})});
              }),
              HasSubstr("index 3 is out of bounds for dimension 1 with size 3"));
  EXPECT_THAT(error_of<OutOfRange>([&] { index(x, {integers({0}), integers({0}), integers({0})}); }), HasSubstr("too many indices"));
  EXPECT_THAT(error_of<OutOfRange>([&] { index(x, {integers({0, 1}), integers({0, 1, 2})}); }), HasSubstr("could not be broadcast"));
  EXPECT_THAT(error_of<OutOfRange>([&] { index(x, {ones({3}).to(kBool)}); }), HasSubstr("The shape of the mask [3] at index 0"));
}

TEST(IndexPut, WritesBroadcastValuesAndLeavesTheRest) {
  const Tensor x = zeros({2, 3}).t();
  index_put_(x, {integers({2, 0})}, tensor<float>({1, 2}, {2}));
  EXPECT_THAT(x.reshape({6}).to_vector<double>(), ElementsAre(1, 2, 0, 0, 1, 2));
  EXPECT_THAT(index_put(x, {x.gt(1)}, scalar_tensor(9, {.dtype = kFloat32})).reshape({6}).to_vector<double>(),
              ElementsAre(1, 9, 0, 0, 1, 9));
}

TEST(IndexPut, AccumulatesWhatIsNamedTwice) {
  const Tensor x = zeros({3});
  index_put_(x, {integers({1, 1, 2})}, tensor<float>({1, 2, 4}, {3}), true);
  EXPECT_THAT(x.to_vector<double>(), ElementsAre(0, 3, 4));
}

TEST(IndexPut, ReadsItsOwnTensorBeforeWritingToIt) {
  const Tensor x = arange(4).to(kFloat32);
  index_put_(x, {integers({1, 2, 3})}, x.slice(0, 0, 3));
  EXPECT_THAT(x.to_vector<double>(), ElementsAre(0, 0, 1, 2));
}

TEST(IndexPut, RefusesValuesThatDoNotFit) {
  const Tensor x = zeros({2, 3});
  EXPECT_THAT(error_of<Error>([&] { index_put_(x, {integers({0})}, zeros({2})); }), HasSubstr("cannot be broadcast to indexing result"));
  EXPECT_THAT(error_of<Error>([&] { index_put_(x, {integers({0})}, zeros({3}, {.dtype = kFloat64})); }), HasSubstr("dtypes match"));
}

TEST(IndexGradients, AgreeWithFiniteDifferences) {
  const Tensor rows = integers({1, 0, 1}), columns = integers({2, 0, 2}), mask = tensor<std::int64_t>({1, 0, 1}, {3}).to(kBool), none;
  EXPECT_TRUE(gradcheck([&](const TensorVector& in) { return index(in[0], {rows, columns}); }, {leaf({2, 3})}));
  EXPECT_TRUE(gradcheck([&](const TensorVector& in) { return index(in[0], {none, mask}); }, {leaf({2, 3})}));
  for (const bool accumulate : {false, true}) {
    const auto put = [&](const TensorVector& in) { return index_put(in[0], {integers({1, 0})}, in[1], accumulate); };
    EXPECT_TRUE(gradcheck(put, {leaf({2, 3}), leaf({2, 3})}));
    EXPECT_TRUE(gradcheck(put, {leaf({2, 3}), leaf({3})}));
  }
  EXPECT_TRUE(gradcheck([&](const TensorVector& in) { return masked_select(in[0], mask); }, {leaf({2, 3})}));
}

TEST(Nonzero, GivesARowOfPositionsForEachElement) {
  const Tensor x = tensor<float>({0, 2, 0, 3, 0, -1}, {2, 3});
  EXPECT_THAT(nonzero(x).reshape({6}).to_vector<double>(), ElementsAre(0, 1, 1, 0, 1, 2));
  EXPECT_THAT(nonzero(x.t()).reshape({6}).to_vector<double>(), ElementsAre(0, 1, 1, 0, 2, 1));
  EXPECT_EQ(nonzero(zeros({2, 3})).sizes().vec(), (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(nonzero(scalar_tensor(1)).sizes().vec(), (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(nonzero_numpy(scalar_tensor(1)).size(), 1u);
}

TEST(MaskedSelect, SpreadsBothSides) {
  const Tensor x = arange(3), mask = tensor<std::int64_t>({1, 0}, {2, 1}).to(kBool);
  EXPECT_THAT(masked_select(x, mask).to_vector<double>(), ElementsAre(0, 1, 2));
  EXPECT_THAT(error_of<Error>([&] { masked_select(x, x); }), HasSubstr("expected BoolTensor for mask"));
}

}  // namespace
}  // namespace mindtorch::testing
