// Tests of torch's type promotion.
#include "mindtorch/runtime/type_promotion.h"

#include <gtest/gtest.h>

#include "mindtorch/runtime/functions.h"

namespace mindtorch {
namespace {

Tensor of(ScalarType type, IntArrayRef sizes = {2}) { return ones(sizes, {.dtype = type}); }

TEST(TypePromotion, OfTwoTensorsIsTheLargerType) {
  EXPECT_EQ((of(kInt64) + of(kFloat32)).dtype(), kFloat32);
  EXPECT_EQ((of(kFloat32) + of(kFloat64)).dtype(), kFloat64);
  EXPECT_EQ((of(kUint8) + of(kInt32)).dtype(), kInt32);
  EXPECT_EQ((of(kBool) + of(kUint8)).dtype(), kUint8);
  EXPECT_EQ((of(kBool) * of(kBool)).dtype(), kBool);
}

TEST(TypePromotion, NumbersOnlyRaiseTheKind) {
  EXPECT_EQ((of(kFloat32) + 1.5).dtype(), kFloat32);
  EXPECT_EQ((of(kInt32) + 1).dtype(), kInt32);
  EXPECT_EQ((of(kInt64) + 1.5).dtype(), kFloat32);
  EXPECT_EQ((of(kUint8) * 2).dtype(), kUint8);
  EXPECT_EQ((of(kBool) + 1).dtype(), kInt64);
  EXPECT_EQ((of(kBool) + true).dtype(), kBool);
}

TEST(TypePromotion, ZeroDimensionalTensorsYieldToOthersOfTheirKind) {
  EXPECT_EQ((of(kFloat32) + of(kFloat64, {})).dtype(), kFloat32);
  EXPECT_EQ((of(kInt32) + of(kInt64, {})).dtype(), kInt32);
  EXPECT_EQ((of(kInt64) + of(kFloat64, {})).dtype(), kFloat64);
  EXPECT_EQ((of(kInt64, {}) + of(kFloat64, {})).dtype(), kFloat64);
  EXPECT_EQ((of(kInt64, {}) + 1.5).dtype(), kFloat32);
}

TEST(TypePromotion, DivisionAndFunctionsOfIntegersAreFloatingPoint) {
  EXPECT_EQ((of(kInt64) / of(kInt64)).dtype(), kFloat32);
  EXPECT_EQ((of(kInt64) / 2).dtype(), kFloat32);
  EXPECT_EQ(of(kInt32).sqrt().dtype(), kFloat32);
  EXPECT_EQ((tensor<std::int64_t>({7}) / 2).item<double>(), 3.5);
}

TEST(TypePromotion, SumsOfIntegersAreInt64) {
  EXPECT_EQ(of(kInt32).sum().dtype(), kInt64);
  EXPECT_EQ(of(kBool).sum().dtype(), kInt64);
  EXPECT_EQ(of(kFloat32).sum(kFloat64).dtype(), kFloat64);
  EXPECT_EQ(full({1000}, 200, {.dtype = kUint8}).sum().item<int>(), 200000);
}

TEST(TypePromotion, ComparisonsAreBool) {
  EXPECT_EQ((of(kInt64) == of(kFloat32)).dtype(), kBool);
  EXPECT_EQ((of(kInt64) > 0.5).dtype(), kBool);
  EXPECT_TRUE((of(kInt64) > 0.5).all().item<bool>());
}

TEST(TypePromotion, InPlaceResultsMustFit) {
  EXPECT_THROW(of(kInt64).add_(1.5), Error);
  EXPECT_THROW(of(kInt64).div_(2), Error);
  EXPECT_THROW(of(kBool).add_(of(kInt64)), Error);
  EXPECT_EQ(of(kFloat32).add_(of(kFloat64)).dtype(), kFloat32);
  EXPECT_EQ(of(kInt32).add_(of(kInt64)).dtype(), kInt32);
}

TEST(TypePromotion, NewTensorsHaveTheTypeOfTheirValues) {
  EXPECT_EQ(tensor({1, 2}).dtype(), kInt64);
  EXPECT_EQ(tensor({1.0, 2.0}).dtype(), kFloat32);
  EXPECT_EQ(tensor({true}).dtype(), kBool);
  EXPECT_EQ(arange(4).dtype(), kInt64);
  EXPECT_EQ(arange(0, 1, 0.25).dtype(), kFloat32);
  EXPECT_EQ(full({1}, 3).dtype(), kInt64);
  EXPECT_EQ(full({1}, 3.0).dtype(), kFloat32);
  EXPECT_EQ(ones({1}).dtype(), kFloat32);
}

TEST(TypePromotion, GradientsHaveTheTypeOfTheirLeaf) {
  const Tensor x = ones({2}, {.dtype = kFloat32, .requires_grad = true});
  (x * ones({2}, {.dtype = kFloat64})).sum().backward();
  EXPECT_EQ(x.grad().dtype(), kFloat32);
}

TEST(TypePromotion, TheDefaultTypeCanBeChanged) {
  set_default_dtype(kFloat64);
  EXPECT_EQ(ones({1}).dtype(), kFloat64);
  EXPECT_EQ((of(kInt64) * 1.5).dtype(), kFloat64);
  set_default_dtype(kFloat32);
  EXPECT_THROW(set_default_dtype(kInt64), TypeMismatch);
}

}  // namespace
}  // namespace mindtorch
