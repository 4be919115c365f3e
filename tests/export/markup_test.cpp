// Text for XML and HTML.
#include "mindtorch/export/markup.h"

#include <gtest/gtest.h>

namespace mindtorch::exporter {
namespace {

TEST(Markup, MarksAreEscapedAndForbiddenCharactersReplaced) {
  EXPECT_EQ(markup_escaped("<a href=\"x\">&</a>"), "&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;");
  EXPECT_EQ(markup_escaped(std::string("a\0b\x01\xFF\n", 6)), "a\uFFFDb\uFFFD\uFFFD\n");
  EXPECT_EQ(markup_escaped("\xEF\xBF\xBE\xEF\xBF\xBF\r"), "\uFFFD\uFFFD&#13;");
}

TEST(Markup, LongTextsEndInAnEllipsisAndCharactersStayWhole) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdef", 4), "abc…");
  EXPECT_EQ(shortened("漢字漢字", 3), "漢字…");
  EXPECT_EQ(shortened("", 3), "");
  EXPECT_EQ(shortened("abc", 0), "");
}

}  // namespace
}  // namespace mindtorch::exporter
