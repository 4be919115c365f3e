// Values as JSON and CSV.
#include "mindtorch/export/tabular/tabular_text.h"

#include <gtest/gtest.h>

#include <limits>

namespace mindtorch::exporter {
namespace {

std::string json(const Value& value) {
  std::string text;
  append_json(text, value);
  return text;
}
std::string csv(const Value& value) {
  std::string text;
  append_csv(text, value);
  return text;
}

TEST(TabularText, ValuesAsJson) {
  EXPECT_EQ(json({}), "null");
  EXPECT_EQ(json(std::int64_t{-5}), "-5");
  EXPECT_EQ(json(0.1), "0.1");
  EXPECT_EQ(json(true), "true");
  EXPECT_EQ(json(std::string("a\"\n")), R"("a\"\n")");
  EXPECT_EQ(json(Json{"[1]"}), "[1]");
}

TEST(TabularText, TimesAreExactToTheNanosecond) {
  EXPECT_EQ(json(Time{0}), "0.000");
  EXPECT_EQ(json(Time{1}), "0.001");
  EXPECT_EQ(json(Time{-1500}), "-1.500");
  EXPECT_EQ(json(Time{9007199254740993}), "9007199254740.993");
  EXPECT_EQ(json(Time{std::numeric_limits<std::int64_t>::min()}), "-9223372036854775.808");
}

TEST(TabularText, ValuesAsCsv) {
  EXPECT_EQ(csv({}), "");
  EXPECT_EQ(csv(Time{12}), "0.012");
  EXPECT_EQ(csv(std::string("plain")), "plain");
  EXPECT_EQ(csv(std::string("a,b")), "\"a,b\"");
  EXPECT_EQ(csv(std::string("say \"x\"\r\n")), "\"say \"\"x\"\"\r\n\"");
  EXPECT_EQ(csv(std::string("\xFF")), "\xEF\xBF\xBD");
  EXPECT_EQ(csv(Json{"[1,2]"}), "\"[1,2]\"");
}

TEST(TabularText, ASpreadsheetTakesNoNameForAFormula) {
  for (const char* text : {"=1+1", "+1", "-1", "@SUM(A1)"}) EXPECT_EQ(csv(std::string(text)), std::string("'") + text);
  EXPECT_EQ(csv(std::string("\t=1")), "'\t=1");
  EXPECT_EQ(csv(std::string("=\"a\"")), "\"'=\"\"a\"\"\"");
  EXPECT_EQ(csv(std::string("a=1")), "a=1");
  EXPECT_EQ(csv(std::int64_t{-1}), "-1") << "numbers stay numbers";
}

TEST(TabularText, ControlCharactersDoNotReachACsvFile) { EXPECT_EQ(csv(std::string("a\x1b\0b", 4)), "a\uFFFD\uFFFDb"); }

}  // namespace
}  // namespace mindtorch::exporter
