// Times, shares and sizes: torch's text.
#include "mindtorch/analyze/units.h"

#include <gtest/gtest.h>

#include <limits>

namespace mindtorch::analyze {
namespace {

TEST(Units, TimesChooseTheirUnitUnlessOneIsGiven) {
  EXPECT_EQ(format_time(0), "0.000us");
  EXPECT_EQ(format_time(999.9994), "999.999us");
  EXPECT_EQ(format_time(1000), "1.000ms");
  EXPECT_EQ(format_time(1000000), "1.000s");
  EXPECT_EQ(format_time(-5000), "-5000.000us");
  EXPECT_EQ(format_time(1500, "us"), "1500.000us");
  EXPECT_EQ(format_time(1500, "s"), "0.002s");
  EXPECT_EQ(format_time(1500, "parsec"), "1.500ms");
}

TEST(Units, Shares) {
  EXPECT_EQ(format_share(1, 3), "33.33%");
  EXPECT_EQ(format_share(0, 5), "0.00%");
  EXPECT_EQ(format_share(0, 0), "NaN");
}

TEST(Units, Sizes) {
  EXPECT_EQ(format_memory(0), "0 B");
  EXPECT_EQ(format_memory(1023), "1023 B");
  EXPECT_EQ(format_memory(-1536), "-1.50 KB");
  EXPECT_EQ(format_memory(5 << 20), "5.00 MB");
  EXPECT_EQ(format_memory(std::int64_t{3} << 30), "3.00 GB");
}

TEST(Units, FlopsHaveTheUnitOfTheSmallest) {
  EXPECT_EQ(flop_unit(1).name, "FLOPs");
  EXPECT_EQ(flop_unit(999).name, "FLOPs");
  EXPECT_EQ(flop_unit(1000).name, "KFLOPs");
  EXPECT_EQ(flop_unit(5'000'000).name, "MFLOPs");
  EXPECT_DOUBLE_EQ(flop_unit(5'000'000).factor, 1e-6);
  EXPECT_EQ(flop_unit(std::numeric_limits<std::int64_t>::max()).name, "PFLOPs");
}

}  // namespace
}  // namespace mindtorch::analyze
