// Rows that are about in order are sorted like any others.
#include "mindtorch/base/mostly_sorted.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace mindtorch {
namespace {

TEST(MostlySorted, AnyOrderIsSorted) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<int> rows(random() % 50);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = random() % 4 == 0 ? static_cast<int>(random() % 60) : static_cast<int>(i);
    std::vector<int> expected = rows;
    std::ranges::sort(expected);
    sort_mostly_sorted(std::span(rows));
    EXPECT_EQ(rows, expected);
  }
}

TEST(MostlySorted, AKeyDecides) {
  std::vector<int> rows = {5, 4, 6, 2, 3};
  sort_mostly_sorted(std::span(rows), std::negate<int>());
  EXPECT_EQ(rows, (std::vector<int>{6, 5, 4, 3, 2}));
}

}  // namespace
}  // namespace mindtorch
