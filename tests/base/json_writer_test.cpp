// JsonWriter: commas, nesting, and values that JSON does not have.
#include "mindtorch/base/json_writer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "mindtorch/base/text.h"

namespace mindtorch {
namespace {

TEST(JsonWriter, ValuesAreSeparatedAtEveryDepth) {
  JsonWriter json;
  const std::vector<int> numbers{1, -2, 3};
  json.object([&] {
    json.field("a", 1).list_field("numbers", numbers).field("empty", "");
    json.object_field("inner", [&] { json.field("is", true).field("not", false); });
    json.list_field("none", std::vector<int>()).list_field("objects", numbers, [&](int n) { json.object([&] { json.field("n", n); }); });
  });
  EXPECT_EQ(json.text(), R"({"a":1,"numbers":[1,-2,3],"empty":"","inner":{"is":true,"not":false},"none":[],)"
                         R"("objects":[{"n":1},{"n":-2},{"n":3}]})");
  EXPECT_TRUE(is_json(json.text()));
}

TEST(JsonWriter, NumbersKeepTheirDigitsAndInfiniteOnesAreNull) {
  JsonWriter json;
  json.list(std::vector<double>{0.1, 1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()});
  EXPECT_EQ(json.take(), "[0.1,1e+300,null,null]");
  json = {};
  json.list(std::vector<std::uint64_t>{UINT64_MAX}).list(std::vector<std::int64_t>{INT64_MIN});
  EXPECT_EQ(json.text(), "[18446744073709551615],[-9223372036854775808]");
}

TEST(JsonWriter, TextAndKeysAreEscaped) {
  JsonWriter json;
  json.object([&] { json.field("\"key\"\n", std::string("a\\b\xFF")); });
  EXPECT_TRUE(is_json(json.text())) << json.text();
  EXPECT_EQ(json.text(), "{\"\\\"key\\\"\\n\":\"a\\\\b\xEF\xBF\xBD\"}");
}

TEST(JsonWriter, WhatIsMissingIsNullAndJsonIsTakenAsItIs) {
  JsonWriter json;
  json.object([&] { json.field("no", std::optional<int>()).field("yes", std::optional<int>(4)).key("raw").json("[1]"); });
  EXPECT_EQ(json.text(), R"({"no":null,"yes":4,"raw":[1]})");
}

TEST(JsonWriter, ALineBreakStandsBeforeAValueAndNotBeforeABracketThatCloses) {
  JsonWriter json;
  json.object([&] { json.field("a", 1).line_break().field("b", 2).line_break(); });
  EXPECT_EQ(json.text(), "{\"a\":1,\n\"b\":2}");
}

}  // namespace
}  // namespace mindtorch
