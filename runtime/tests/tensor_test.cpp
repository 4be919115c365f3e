// Tests of tensors: geometry, sharing, memory of others.
#include "mindtorch/runtime/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mindtorch/runtime/functions.h"
#include "mindtorch/runtime/geometry.h"

namespace mindtorch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Tensor, KnowsItsGeometryTypeAndPlace) {
  const Tensor x = zeros({2, 3, 4}, {.dtype = kInt32});
  EXPECT_EQ(x.dim(), 3);
  EXPECT_EQ(x.numel(), 24);
  EXPECT_EQ(x.size(-1), 4);
  EXPECT_EQ(x.strides().vec(), (std::vector<std::int64_t>{12, 4, 1}));
  EXPECT_EQ(x.nbytes(), 96u);
  EXPECT_EQ(x.device().str(), "cpu");
  EXPECT_TRUE(x.is_contiguous());
  EXPECT_FALSE(x.transpose(0, 1).is_contiguous());
  EXPECT_THROW(x.size(3), OutOfRange);
  EXPECT_THROW(x.data_ptr<float>(), TypeMismatch);
}

TEST(Tensor, CopiesOfTheHandleShareTheTensor) {
  const Tensor x = zeros({2});
  const Tensor y = x;
  y.add_(1);
  EXPECT_THAT(x.to_vector<double>(), ElementsAre(1, 1));
  EXPECT_TRUE(x.is_same(y));
  EXPECT_FALSE(Tensor().defined());
}

TEST(Tensor, ManyDimensionsWorkUpToALimit) {
  const Tensor x = ones(std::vector<std::int64_t>(10, 2));
  EXPECT_EQ((x + x.permute({9, 8, 7, 6, 5, 4, 3, 2, 1, 0})).sum().item<double>(), 2048);
  EXPECT_THROW(ones(std::vector<std::int64_t>(17, 1)), Error);
}

TEST(Tensor, ItemNeedsOneElement) {
  EXPECT_EQ(full({1, 1}, 7).item<int>(), 7);
  EXPECT_THROW(ones({2}).item(), Error);
  EXPECT_TRUE(full({}, true).item().is_boolean());
}

TEST(Tensor, MemoryOfOthersIsUsedInPlaceAndReleased) {
  float data[] = {1, 2, 3, 4};
  int released = 0;
  {
    const Tensor x = from_blob(data, {2, 2}, kFloat32, [&] { ++released; });
    const Tensor view = x[1];
    view.mul_(10);
  }
  EXPECT_EQ(data[3], 40);
  EXPECT_EQ(released, 1);
}

TEST(Tensor, RequiresGradIsForFloatingPointLeaves) {
  EXPECT_THROW(ones({1}, {.dtype = kInt64, .requires_grad = true}), Error);
  const Tensor x = ones({1}, {.requires_grad = true});
  EXPECT_TRUE(x.requires_grad());
  EXPECT_THROW((x * 2).requires_grad_(false), Error);
  x.requires_grad_(false);
  EXPECT_FALSE((x * 2).requires_grad());
}

TEST(Tensor, ZeroElementsAreNoSpecialCase) {
  const Tensor x = ones({0, 3}, {.requires_grad = true});
  const Tensor y = (x * 2 + x.t().t()).sum();
  EXPECT_EQ(y.item<double>(), 0);
  y.backward();
  EXPECT_EQ(x.grad().sizes().vec(), (std::vector<std::int64_t>{0, 3}));
  EXPECT_EQ(x.sum({0}).to_vector<double>(), std::vector<double>(3, 0.0));
}

TEST(Geometry, ViewStridesExistExactlyWhenNoCopyIsNeeded) {
  EXPECT_TRUE(view_strides(IntArrayRef{2, 3}, IntArrayRef{3, 1}, {6}));
  EXPECT_FALSE(view_strides(IntArrayRef{2, 3}, IntArrayRef{1, 2}, {6}));
  EXPECT_TRUE(view_strides(IntArrayRef{2, 3}, IntArrayRef{1, 2}, {2, 1, 3}));
  EXPECT_TRUE(view_strides(IntArrayRef{4, 3}, IntArrayRef{6, 2}, {2, 2, 3}));
  EXPECT_FALSE(view_strides(IntArrayRef{4, 3}, IntArrayRef{6, 1}, {12}));
  EXPECT_TRUE(view_strides(IntArrayRef{4, 3}, IntArrayRef{0, 1}, {2, 2, 3}));
  EXPECT_TRUE(view_strides(IntArrayRef{}, IntArrayRef{}, {1, 1}));
}

TEST(Geometry, OverlapAndDensity) {
  EXPECT_TRUE(is_dense(IntArrayRef{2, 3}, IntArrayRef{1, 2}));
  EXPECT_FALSE(is_dense(IntArrayRef{2, 3}, IntArrayRef{6, 2}));
  EXPECT_TRUE(may_overlap(IntArrayRef{2, 3}, IntArrayRef{1, 1}));
  EXPECT_TRUE(may_overlap(IntArrayRef{2}, IntArrayRef{0}));
  EXPECT_FALSE(may_overlap(IntArrayRef{2, 3}, IntArrayRef{6, 2}));
}

TEST(DimVector, GrowsBeyondItsInlineRoom) {
  DimVector v;
  for (std::int64_t i = 0; i < 20; ++i) v.push_back(i);
  v.insert(3, 100);
  v.erase(0);
  EXPECT_EQ(v.size(), 20u);
  EXPECT_EQ(v[2], 100);
  DimVector copy = v, moved = std::move(v);
  EXPECT_EQ(copy, moved);
  EXPECT_TRUE(v.empty());
  copy = DimVector{1, 2};
  EXPECT_EQ(to_string(copy), "[1, 2]");
}

TEST(Tensor, ForeignObjectsStandForOneTensorOnly) {
  const Tensor x = zeros({2});
  int object = 0;
  EXPECT_EQ(x.impl()->foreign_object(), nullptr);
  x.impl()->set_foreign_object(&object);
  EXPECT_EQ(x.view({2, 1}).impl()->foreign_object(), nullptr);
  EXPECT_EQ(x.add_(1).impl()->foreign_object(), &object);
  x.impl()->set_foreign_object(nullptr);
}

TEST(Device, NamesAreParsedAndPrinted) {
  EXPECT_EQ(Device("npu:1").str(), "npu:1");
  EXPECT_EQ(Device("cpu"), Device());
  EXPECT_EQ(Device("npu").index, 0);
  for (const char* bad : {"", "gpu", "npu:", "npu:x", "npu:1x", "npu:-1", "npu:999"}) EXPECT_THROW(Device{bad}, Error) << bad;
}

}  // namespace
}  // namespace mindtorch
