// Values of views, parts, joins and indexing against naive references.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/tests/naive.h"

namespace mindtorch::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Sizes = std::vector<std::int64_t>;

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Views, ReshapeOfATransposeReadsRowByRow) {
  EXPECT_THAT(arange(6).reshape({2, 3}).transpose(0, 1).reshape({6}).to_vector<double>(), ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(Views, ReshapeKeepsTheOrderOfElementsInEveryLayout) {
  TensorMaker maker(2);
  for (int round = 0; round < 200; ++round) {
    const Tensor x = maker.make(maker.sizes(4, 4), kFloat64);
    const Tensor flat = x.reshape({x.numel()});
    EXPECT_EQ(plain(flat).values, plain(x).values);
    Sizes sizes = x.sizes().vec();
    std::reverse(sizes.begin(), sizes.end());
    EXPECT_EQ(plain(x.reshape(sizes)).values, plain(x).values);
    sizes.insert(sizes.begin(), 1);
    EXPECT_EQ(plain(x.reshape(sizes)).values, plain(x).values);
  }
}

TEST(Views, ShareMemoryWithTheirBase) {
  const Tensor x = zeros({2, 3});
  x.t()[1].fill_(7);
  x.view({6}).slice(0, 4).add_(1);
  EXPECT_THAT(x.to_vector<double>(), ElementsAre(0, 7, 0, 0, 8, 1));
  EXPECT_EQ(x.reshape({3, 2}).storage().get(), x.storage().get());
  EXPECT_NE(x.t().reshape({6}).storage().get(), x.storage().get());
}

TEST(Views, PermutationsMoveSizesAndValues) {
  TensorMaker maker(4);
  const Tensor x = maker.make({2, 3, 4}, kFloat32), y = x.permute({2, 0, 1});
  const Plain a = plain(x), b = plain(y);
  EXPECT_EQ(b.sizes, (Sizes{4, 2, 3}));
  each_index(b.sizes, [&](const Sizes& i) { EXPECT_EQ(b.at(i), a.at({i[1], i[2], i[0]})); });
}

TEST(Views, ErrorsNameTheSizes) {
  const Tensor x = ones({2, 3});
  EXPECT_THAT(error_of([&] { x.view({4}); }), HasSubstr("[aten::view] shape '[4]' is invalid for input of size 6"));
  EXPECT_THAT(error_of([&] { x.t().view({6}); }), HasSubstr("Use .reshape(...) instead"));
  EXPECT_THAT(error_of([&] { x.reshape({-1, -1}); }), HasSubstr("only one dimension can be inferred"));
  EXPECT_THAT(error_of([&] {
                x.expand({4, 3});
              }),
              HasSubstr("The expanded size of the tensor (4) must match the existing size (2) at non-singleton dimension 0"));
  EXPECT_THAT(error_of([&] { x.permute({0, 0}); }), HasSubstr("duplicate dims"));
  EXPECT_THAT(error_of([&] { x.transpose(0, 5); }), HasSubstr("Dimension out of range"));
  EXPECT_THAT(error_of([&] { x.as_strided({10}, {1}); }), HasSubstr("reach outside of a storage of 6 elements"));
  EXPECT_THAT(error_of([&] { x.select(0, 2); }), HasSubstr("index 2 out of range for tensor of size [2, 3] at dimension 0"));
  EXPECT_THAT(error_of([&] { x.narrow(1, 2, 2); }), HasSubstr("start (2) + length (2) exceeds dimension size (3)."));
  EXPECT_THAT(error_of([&] { ones({2, 2, 2}).t(); }), HasSubstr("t() expects a tensor with <= 2 dimensions, but self is 3D"));
  EXPECT_THAT(error_of([&] { zeros({-1}); }), HasSubstr("negative dimension"));
}

TEST(Slicing, FollowsPython) {
  const Tensor x = arange(10);
  EXPECT_THAT(x.slice(0, 2, 8, 3).to_vector<double>(), ElementsAre(2, 5));
  EXPECT_THAT(x.slice(0, -3).to_vector<double>(), ElementsAre(7, 8, 9));
  EXPECT_EQ(x.slice(0, 5, 2).numel(), 0);
  EXPECT_EQ(x.slice(0, 100).numel(), 0);
  EXPECT_THAT(x.slice(0, -100, 2).to_vector<double>(), ElementsAre(0, 1));
  EXPECT_THAT(x.narrow(0, -2, 2).to_vector<double>(), ElementsAre(8, 9));
}

TEST(Joining, CatAndSplitAreInverse) {
  TensorMaker maker(6);
  for (int round = 0; round < 100; ++round) {
    const Tensor x =
        maker.make({1 + static_cast<std::int64_t>(maker.number(0, 3)), 1 + static_cast<std::int64_t>(maker.number(0, 4)), 3}, kFloat32);
    const auto dim = static_cast<std::int64_t>(maker.number(0, 2));
    const TensorVector parts = x.split(1 + static_cast<std::int64_t>(maker.number(0, 2)), dim);
    EXPECT_EQ(plain(cat(parts, dim)).values, plain(x).values);
    EXPECT_EQ(plain(stack(x.unbind(dim), dim)).values, plain(x).values);
  }
}

TEST(Joining, ChunksAndSizes) {
  const Tensor x = arange(7);
  const TensorVector parts = x.chunk(3);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_THAT(parts[2].to_vector<double>(), ElementsAre(6));
  EXPECT_THAT(x.split_with_sizes({3, 4})[1].to_vector<double>(), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(cat({arange(2), ones({0}), full({1}, 2.5)}).to_vector<double>(), ElementsAre(0, 1, 2.5));
}

TEST(Joining, ErrorsNameTheTensors) {
  EXPECT_THAT(error_of([] { cat({}, 0); }), HasSubstr("expected a non-empty list of Tensors"));
  EXPECT_THAT(error_of([] {
                cat({ones({2, 3}), ones({2, 4})}, 0);
              }),
              HasSubstr("Expected size 3 but got size 4 for tensor number 1 in the list."));
  EXPECT_THAT(error_of([] {
                stack({ones({2}), ones({3})});
              }),
              HasSubstr("stack expects each tensor to be equal size, but got [2] at entry 0 and [3] at entry 1"));
  EXPECT_THAT(error_of([] { ones({5}).split_with_sizes({2, 2}); }), HasSubstr("split_sizes to sum exactly to 5"));
  EXPECT_THAT(error_of([] { ones({5}).chunk(0); }), HasSubstr("greater than 0"));
}

TEST(Joining, RepeatTilesInEveryDimension) {
  const Tensor x = arange(4).view({2, 2});
  EXPECT_THAT(x.repeat({1, 2}).to_vector<double>(), ElementsAre(0, 1, 0, 1, 2, 3, 2, 3));
  EXPECT_EQ(x.repeat({3, 1, 1}).sizes().vec(), (Sizes{3, 2, 2}));
  EXPECT_EQ(x.repeat({0, 1}).numel(), 0);
}

TEST(Indexing, GatherAndScatterAgreeWithTheirDefinition) {
  TensorMaker maker(8);
  for (int round = 0; round < 100; ++round) {
    const Tensor x = maker.make({3, 4, 2}, kFloat64);
    const auto dim = static_cast<std::int64_t>(maker.number(0, 2));
    Sizes sizes = {1 + static_cast<std::int64_t>(maker.number(0, 2)), 1 + static_cast<std::int64_t>(maker.number(0, 3)),
                   1 + static_cast<std::int64_t>(maker.number(0, 1))};
    const Tensor index = randint(0, x.size(dim), sizes), src = maker.make({3, 4, 2}, kFloat64);
    const Plain a = plain(x), at = plain(index), s = plain(src), gathered = plain(x.gather(dim, index));
    Plain added = plain(x);
    each_index(sizes, [&](const Sizes& i) {
      Sizes target = i;
      target[static_cast<std::size_t>(dim)] = static_cast<std::int64_t>(at.at(i));
      EXPECT_EQ(gathered.at(i), a.at(target));
      added.values[static_cast<std::size_t>((target[0] * 4 + target[1]) * 2 + target[2])] += s.at(i);
    });
    EXPECT_EQ(plain(scatter_add(x, dim, index, src)).values, added.values);
  }
}

TEST(Indexing, IndexSelectAndIndexAddAgreeWithTheirDefinition) {
  TensorMaker maker(10);
  for (int round = 0; round < 60; ++round) {
    const Tensor x = maker.make({3, 4, 2}, kFloat64);
    const auto dim = static_cast<std::int64_t>(maker.number(0, 2));
    const Tensor index = randint(0, x.size(dim), {5}, {.dtype = maker.number(0, 1) == 0 ? kInt64 : kInt32});
    const Plain a = plain(x), at = plain(index), selected = plain(x.index_select(dim, index));
    each_index(selected.sizes, [&](const Sizes& i) {
      Sizes source = i;
      source[static_cast<std::size_t>(dim)] =
          static_cast<std::int64_t>(at.values[static_cast<std::size_t>(i[static_cast<std::size_t>(dim)])]);
      EXPECT_EQ(selected.at(i), a.at(source));
    });
    const Tensor sum = index_add(zeros({3, 4, 2}, {.dtype = kFloat64}), dim, index, x.index_select(dim, index));
    EXPECT_NEAR(sum.sum().item<double>(), x.index_select(dim, index).sum().item<double>(), 1e-9);
  }
}

TEST(Indexing, OutOfRangeIsAnIndexError) {
  const Tensor x = ones({2, 3});
  EXPECT_THROW(x.index_select(0, tensor<std::int64_t>({2})), OutOfRange);
  EXPECT_THROW(x.index_select(0, tensor<std::int64_t>({-1})), OutOfRange);
  EXPECT_THAT(error_of([&] {
                x.gather(1, tensor<std::int64_t>(std::vector<std::int64_t>{3}, {1, 1}));
              }),
              HasSubstr("index 3 is out of bounds for dimension 1 with size 3"));
  EXPECT_THAT(error_of([&] { x.gather(1, ones({1, 1})); }), HasSubstr("Expected dtype int32/int64 for index, got Float"));
  EXPECT_THAT(error_of([&] { x.gather(0, tensor<std::int64_t>({1})); }), HasSubstr("same number of dimensions"));
  EXPECT_THAT(error_of([&] {
                x.gather(0, zeros({1, 4}, {.dtype = kInt64}));
              }),
              HasSubstr("to be no larger than self [2, 3] apart from dimension 0"));
}

TEST(Indexing, TrianglesKeepTheirSideOfTheDiagonal) {
  TensorMaker maker(12);
  for (std::int64_t diagonal = -4; diagonal <= 5; ++diagonal) {
    const Tensor x = maker.make({2, 3, 4}, kInt32);
    const Plain a = plain(x), low = plain(x.tril(diagonal)), high = plain(x.triu(diagonal));
    each_index(a.sizes, [&](const Sizes& i) {
      EXPECT_EQ(low.at(i), i[2] - i[1] <= diagonal ? a.at(i) : 0);
      EXPECT_EQ(high.at(i), i[2] - i[1] >= diagonal ? a.at(i) : 0);
    });
  }
}

TEST(Copies, ConvertBetweenAllTypesAndLayouts) {
  TensorMaker maker(14);
  for (int round = 0; round < 200; ++round) {
    const Tensor x = maker.make(maker.sizes(), maker.type(), 0, 4);
    const ScalarType type = maker.type();
    const Plain a = plain(x), b = plain(x.to(type));
    for (std::size_t i = 0; i < a.values.size(); ++i) {
      const double expected = type == kBool ? double(a.values[i] != 0) : is_floating_point(type) ? a.values[i] : std::trunc(a.values[i]);
      EXPECT_EQ(b.values[i], expected);
    }
  }
  const Tensor big = arange(40 * 50).view({40, 50});
  EXPECT_EQ(plain(big.t().contiguous()).values, plain(big.t()).values);
}

}  // namespace
}  // namespace mindtorch::testing
