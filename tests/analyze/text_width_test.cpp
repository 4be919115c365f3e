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

TEST(TextWidth, NamesKeepTheirStartAndPathsTheirEnd) {
  EXPECT_EQ(fit_name("aten::addmm", std::nullopt), "aten::addmm");
  EXPECT_EQ(fit_name("aten::addmm", 15), "aten::addmm");
  EXPECT_EQ(fit_name("aten::addmm", 14), "aten::addmm...") << "torch leaves room for the dots even where they are not needed";
  EXPECT_EQ(fit_name("aten::addmm", 6), "ate...");
  EXPECT_EQ(fit_name("aten::addmm", 1), "aten::add...");
  EXPECT_EQ(fit_path("a/b/train.py:3:f", 16), "a/b/train.py:3:f");
  EXPECT_EQ(fit_path("a/b/train.py:3:f", 8), "...y:3:f");
  EXPECT_EQ(fit_path("a/b/train.py:3:f", 3), "3:f");
}

}  // namespace
}  // namespace mindtorch::analyze
