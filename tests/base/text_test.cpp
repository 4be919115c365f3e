// JSON escaping of every byte, repair of invalid UTF-8, and what counts as JSON.
#include "mindtorch/base/text.h"

#include <gmock/gmock.h>

#include <array>
#include <random>
#include <vector>

namespace mindtorch {
namespace {

using std::string_literals::operator""s;

constexpr char kReplacement[] = "\xEF\xBF\xBD";

std::string escaped(std::string_view text) {
  std::string out;
  append_json_escaped(out, text);
  return out;
}

// What RFC 8259 demands of one ASCII byte; written apart from the code under test.
std::string expected_escape(int byte) {
  switch (byte) {
    case '"': return "\\\"";
    case '\\': return "\\\\";
    case '\b': return "\\b";
    case '\f': return "\\f";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    default: break;
  }
  if (byte >= 0x20 && byte < 0x7F) return std::string(1, static_cast<char>(byte));
  std::array<char, 7> text{};
  std::snprintf(text.data(), text.size(), "\\u%04x", byte);
  return text.data();
}

TEST(JsonEscape, EveryAsciiByteIsEscapedAsJsonDemands) {
  for (int byte = 0; byte < 0x80; ++byte) EXPECT_EQ(escaped(std::string(1, static_cast<char>(byte))), expected_escape(byte)) << byte;
}

TEST(JsonEscape, EveryLoneByteAboveAsciiBecomesTheReplacementCharacter) {
  for (int byte = 0x80; byte < 0x100; ++byte) EXPECT_EQ(escaped(std::string(1, static_cast<char>(byte))), kReplacement) << byte;
}

TEST(JsonEscape, ControlCharactersAboveAsciiAreEscapedToo) { EXPECT_EQ(escaped("\xC2\x80\xC2\x9F\xC2\xA0"), "\\u0080\\u009f\xC2\xA0"); }

TEST(JsonEscape, TextAroundAnEscapeIsKept) { EXPECT_EQ(escaped("a\0b\"c"s), "a\\u0000b\\\"c"); }

TEST(JsonEscape, AppendingKeepsWhatWasThere) {
  std::string out = "before ";
  append_json_escaped(out, "\n");
  append_json_escaped(out, "");
  EXPECT_EQ(out, "before \\n");
}

TEST(JsonEscape, ValidUtf8OfEveryLengthPassesUnchanged) {
  for (const char* text : {"é", "€", "😀", "\u007f", "\u0080", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff"})
    EXPECT_EQ(valid_utf8(text), text);
  EXPECT_EQ(escaped("aten::µ→😀"), "aten::µ→😀");
}

struct BadText {
  std::string text;
  int bad_bytes;
};

TEST(Utf8, EachInvalidByteBecomesOneReplacementCharacter) {
  const std::vector<BadText> cases = {
      {"\xC3", 1},              // cut short
      {"\xE2\x82", 2},          // cut short
      {"\xF0\x9F\x98", 3},      // cut short
      {"\xC0\x80", 2},          // overlong NUL
      {"\xC1\xBF", 2},          // overlong
      {"\xE0\x9F\xBF", 3},      // overlong
      {"\xF0\x8F\xBF\xBF", 4},  // overlong
      {"\xED\xA0\x80", 3},      // surrogate
      {"\xED\xBF\xBF", 3},      // surrogate
      {"\xF4\x90\x80\x80", 4},  // beyond U+10FFFF
      {"\xF5\x80\x80\x80", 4},  // beyond U+10FFFF
      {"\xFE\xFF", 2},
  };
  for (const BadText& bad : cases) {
    std::string expected = "<";
    for (int i = 0; i < bad.bad_bytes; ++i) expected += kReplacement;
    expected += ">";
    EXPECT_EQ(valid_utf8("<" + bad.text + ">"), expected) << testing::PrintToString(bad.text);
    EXPECT_EQ(escaped("<" + bad.text + ">"), expected) << testing::PrintToString(bad.text);
  }
}

TEST(JsonEscape, RandomBytesAlwaysGiveAValidJsonString) {
  std::mt19937 random(20240501);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 40, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random());
    EXPECT_TRUE(is_json(json_quoted(bytes))) << testing::PrintToString(bytes);
  }
}

TEST(Json, QuotingAddsTheQuotes) {
  EXPECT_EQ(json_quoted(""), "\"\"");
  EXPECT_EQ(json_quoted("a\"b"), "\"a\\\"b\"");
}

TEST(Json, OneCompleteValueIsJson) {
  for (const char* text : {"null",
                           "true",
                           "false",
                           "0",
                           "-0",
                           "12",
                           "-1.5",
                           "1e9",
                           "1E+9",
                           "0.5e-3",
                           "\"\"",
                           "\"a\"",
                           "\"\\u00e9\\n\\/\"",
                           "\"é\"",
                           "[]",
                           "{}",
                           "[1,2,[3]]",
                           "{\"a\":1}",
                           "{\"a\":{\"b\":[null]},\"c\":\"d\"}",
                           " \t\r\n[ 1 , 2 ] ",
                           "{\"a\":1,\"a\":2}",
                           "{ }",
                           "[ ]"})
    EXPECT_TRUE(is_json(text)) << text;
}

TEST(Json, AnythingElseIsNot) {
  const std::vector<std::string> cases = {"",
                                          " ",
                                          "notjson",
                                          "nul",
                                          "nulll",
                                          "True",
                                          "01",
                                          "-",
                                          "+1",
                                          ".5",
                                          "1.",
                                          "1e",
                                          "1e+",
                                          "0x10",
                                          "NaN",
                                          "Infinity",
                                          "'a'",
                                          "\"",
                                          "\"a",
                                          "\"\n\"",
                                          "\"\\x\"",
                                          "\"\\u12",
                                          "\"\\u12g4\"",
                                          "[",
                                          "]",
                                          "[1",
                                          "[1,]",
                                          "[,1]",
                                          "[1 2]",
                                          "{",
                                          "}",
                                          "{a:1}",
                                          "{\"a\"}",
                                          "{\"a\":}",
                                          "{\"a\":1,}",
                                          "{1:2}",
                                          "{\"a\" 1}",
                                          "1 2",
                                          "[] []",
                                          "{}x",
                                          "// c\n1",
                                          "1,",
                                          "\"\\",
                                          "\"\xC3\"",
                                          "\"\xED\xA0\x80\"",
                                          "\xEF\xBB\xBF{}",
                                          "null\0"s,
                                          "\0"s,
                                          "[1\0]"s,
                                          "\"\x1f\"",
                                          "\v1",
                                          "\f1"};
  for (const std::string& text : cases) EXPECT_FALSE(is_json(text)) << testing::PrintToString(text);
}

TEST(Json, DeepNestingIsAcceptedUpToALimitAndNeverOverflowsTheStack) {
  const auto nested = [](std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_TRUE(is_json(nested(500)));
  EXPECT_FALSE(is_json(nested(10'000)));
  EXPECT_FALSE(is_json(std::string(10'000'000, '[')));
  std::string objects;
  for (int i = 0; i < 1'000'000; ++i) objects += "{\"a\":";
  EXPECT_FALSE(is_json(objects));
}

TEST(Json, HalfOfASurrogatePairIsNotJson) {
  for (const char* text : {R"("\ud83d\ude00")", R"("\uD7FF\uE000")", R"("\u0000")"}) EXPECT_TRUE(is_json(text)) << text;
  for (const char* text : {R"("\ud800")", R"("\udc00")", R"("\ud800x")", R"("\ud800\n")", R"("\ud800\ud800")", R"("\ude00\ud83d")",
                           R"("\u-123")", R"("\u12")"})
    EXPECT_FALSE(is_json(text)) << text;
}

TEST(WithoutControls, ControlCharactersAndWhatXmlForbidsBecomeTheReplacementCharacter) {
  EXPECT_EQ(without_controls("a\x1b[31m\0\x7f\n"s), "a\uFFFD[31m\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(without_controls("\xC2\x80\xC2\x9F\xC2\xA0"), "\uFFFD\uFFFD\xC2\xA0");
  EXPECT_EQ(without_controls("\xEF\xBF\xBD\xEF\xBF\xBE\xEF\xBF\xBF"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(without_controls("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD") << "half of a surrogate pair";
  EXPECT_EQ(without_controls("é€😀 aten::mm"), "é€😀 aten::mm");
}

TEST(WithoutControls, TabsAndLineEndsStayIfAsked) { EXPECT_EQ(without_controls("a\tb\r\nc\v", true), "a\tb\r\nc\uFFFD"); }

}  // namespace
}  // namespace mindtorch
