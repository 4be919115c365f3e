// Lengths and slices in code points, as Python has them.
#include "mindtorch/analyze/text_width.h"

#include <gtest/gtest.h>

namespace mindtorch::analyze {
namespace {

TEST(TextWidth, CountsCodePointsNotBytes) {
  EXPECT_EQ(text_length(""), 0u);
  EXPECT_EQ(text_length("abc"), 3u);
  EXPECT_EQ(text_length("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"), 3u);
}

TEST(TextWidth, SlicesLikePython) {
  EXPECT_EQ(text_prefix("abcde", 2), "ab");
  EXPECT_EQ(text_prefix("abcde", 9), "abcde");
  EXPECT_EQ(text_prefix("abcde", -2), "abc");
  EXPECT_EQ(text_prefix("abcde", -9), "");
  EXPECT_EQ(text_suffix("abcde", 2), "cde");
  EXPECT_EQ(text_suffix("abcde", 9), "");
  EXPECT_EQ(text_prefix("\xC3\xA4\xC3\xB6x", 1), "\xC3\xA4");
  EXPECT_EQ(text_suffix("\xC3\xA4\xC3\xB6x", 1), "\xC3\xB6x");
}

}  // namespace
}  // namespace mindtorch::analyze
