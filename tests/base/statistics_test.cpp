// The median, of odd and even numbers of values and of none.
#include "mindtorch/base/statistics.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace mindtorch {
namespace {

TEST(Median, OfAnOddNumberIsTheMiddleValue) {
  EXPECT_EQ(median_of(std::vector<std::int64_t>{5, 1, 9}), 5);
  EXPECT_EQ(median_of(std::vector<double>{7}), 7);
}

TEST(Median, OfAnEvenNumberIsTheMeanOfTheTwoInTheMiddleOrTheLowerOfThem) {
  EXPECT_EQ(median_of(std::vector<double>{9, 1, 4, 3}), 3.5);
  EXPECT_EQ(median_of(std::vector<double>{9, 1, 4, 3}, EvenMedian::kLower), 3);
  EXPECT_EQ(median_of(std::vector<std::int64_t>{2, 8}), 5);
  EXPECT_EQ(median_of(std::vector<std::int64_t>{2, 8}, EvenMedian::kLower), 2);
}

TEST(Median, OfNoValuesIsZero) { EXPECT_EQ(median_of(std::vector<std::int64_t>()), 0); }

}  // namespace
}  // namespace mindtorch
