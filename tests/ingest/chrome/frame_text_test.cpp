// Stack frames from their texts.
#include "mindtorch/ingest/chrome/frame_text.h"

#include <gtest/gtest.h>

namespace mindtorch::ingest::chrome {
namespace {

void expect_frame(std::string_view text, std::string_view file, std::int32_t line, std::string_view function) {
  const FrameText frame = split_frame(text);
  EXPECT_EQ(frame.file, file) << text;
  EXPECT_EQ(frame.line, line) << text;
  EXPECT_EQ(frame.function, function) << text;
}

TEST(FrameText, BothFormsAreSplit) {
  expect_frame("a/b.py:12:forward", "a/b.py", 12, "forward");
  expect_frame("a/b.py(12): forward", "a/b.py", 12, "forward");
  expect_frame("C:/b.py:7:f", "C:/b.py", 7, "f");
}

TEST(FrameText, AnyOtherTextIsAllFunction) {
  for (const char* text : {"", "forward", "a:b:c", "f(x): y", "a.py:99999999999:f", "::", "(("}) expect_frame(text, "", 0, text);
}

}  // namespace
}  // namespace mindtorch::ingest::chrome
