// Numbers as arguments of ops: what they are converted to, and what does not fit.
#include "mindtorch/runtime/scalar_range.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace mindtorch {
namespace {

bool fits(const Scalar& number, ScalarType type) {
  try {
    check_fits(number, type, "aten::fill_");
    return true;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("[aten::fill_] value cannot be converted to type"), std::string::npos) << error.what();
    return false;
  }
}

TEST(Scalar, KnowsWhatItWasWrittenAs) {
  EXPECT_EQ(Scalar(2).type(), kInt64);
  EXPECT_EQ(Scalar(2.5f).type(), kFloat64);
  EXPECT_EQ(Scalar(true).type(), kBool);
  EXPECT_EQ(Scalar((std::int64_t{1} << 62) + 1).to<std::int64_t>(), (std::int64_t{1} << 62) + 1);
}

TEST(Scalar, FitsWhereTorchSaysSo) {
  const double kNan = std::numeric_limits<double>::quiet_NaN(), kInf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(fits(255, kUint8));
  EXPECT_TRUE(fits(-1, kUint8)) << "wraps around";
  EXPECT_FALSE(fits(300, kUint8));
  EXPECT_FALSE(fits(-300, kUint8));
  EXPECT_TRUE(fits(2.9, kInt32));
  EXPECT_FALSE(fits(std::int64_t{1} << 31, kInt32));
  EXPECT_FALSE(fits(1e10, kInt32));
  for (const ScalarType type : {kUint8, kInt32, kInt64}) {
    EXPECT_FALSE(fits(kNan, type));
    EXPECT_FALSE(fits(kInf, type));
  }
  EXPECT_TRUE(fits(kNan, kFloat32));
  EXPECT_TRUE(fits(-kInf, kFloat32));
  EXPECT_FALSE(fits(1e300, kFloat32));
  EXPECT_TRUE(fits(1e300, kFloat64));
  EXPECT_TRUE(fits(kNan, kBool));
}

}  // namespace
}  // namespace mindtorch
