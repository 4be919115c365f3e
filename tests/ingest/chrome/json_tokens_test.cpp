// Going along the tokens of a JSON text.
#include "mindtorch/ingest/chrome/json_tokens.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace mindtorch::ingest::chrome {
namespace {

// Texts lie at the end of their memory, so that a sanitizer sees who reads beyond it.
class JsonTokensTest : public testing::Test {
 protected:
  simdjson::error_code start(std::string_view text) {
    text_ = std::make_unique<char[]>(text.size());
    text.copy(text_.get(), text.size());
    return tokens_.start({text_.get(), text.size()});
  }

  JsonTokens tokens_;
  std::unique_ptr<char[]> text_;
};

TEST_F(JsonTokensTest, MembersAndItemsAreVisitedInOrder) {
  ASSERT_EQ(start(R"( {"a" : 1 , "b":["x", [2], {}], "c":{"d":null}, "e":"f"} )"), simdjson::SUCCESS);
  std::vector<std::string> seen;
  const auto add = [&](std::string_view text) { seen.emplace_back(text); };
  const auto error = tokens_.for_each_member([&](std::string_view key) {
    add(key);
    std::string_view json;
    if (tokens_.first() != '[') {
      const auto inside = tokens_.take_json(json);
      add(json);
      return inside;
    }
    return tokens_.for_each_item([&](std::size_t) {
      const auto inside = tokens_.take_token(json);
      add(json);
      return inside;
    });
  });
  EXPECT_EQ(error, simdjson::SUCCESS);
  EXPECT_EQ(seen, (std::vector<std::string>{"a", "1", "b", "\"x\"", "[", "{", "c", R"({"d":null})", "e", "\"f\""}));
  EXPECT_TRUE(tokens_.is_at_end());
}

TEST_F(JsonTokensTest, MembersOfOneTokenAreHandedOverWithIt) {
  ASSERT_EQ(start(R"( {"a" : 1 , "b":["x"], "c" :"d" ,"e":{},"f":{"g":2}, "h":null} )"), simdjson::SUCCESS);
  std::vector<std::string> seen;
  const auto error = tokens_.for_each_member(
      [&](std::string_view key, std::string_view token) {
        seen.push_back(std::string(key) + " is " + std::string(token));
        return simdjson::SUCCESS;
      },
      [&](std::string_view key) {
        seen.push_back(std::string(key) + " nests");
        return tokens_.skip();
      });
  EXPECT_EQ(error, simdjson::SUCCESS);
  EXPECT_EQ(seen, (std::vector<std::string>{"a is 1", "b nests", "c is \"d\"", "e nests", "f nests", "h is null"}));
  EXPECT_TRUE(tokens_.is_at_end());
}

TEST_F(JsonTokensTest, DamagedObjectsFailInBothWays) {
  for (const char* text : {"{", "[1]", "{,}", R"({"a"})", R"({"a":})", R"({"a":1)", R"({"a":1,})", R"({"a":1 "b":2})", R"({"a":1])",
                           R"({"a":1,"b":})", R"({1:2})", R"({"a":,"b":1})", R"({"a":[1],)", R"({"a" 1})"}) {
    ASSERT_EQ(start(text), simdjson::SUCCESS) << text;
    const auto skip = [&](std::string_view) { return tokens_.skip(); };
    EXPECT_NE(tokens_.for_each_member(skip), simdjson::SUCCESS) << text;
    ASSERT_EQ(start(text), simdjson::SUCCESS) << text;
    EXPECT_NE(tokens_.for_each_member([](std::string_view, std::string_view) { return simdjson::SUCCESS; }, skip), simdjson::SUCCESS)
        << text;
  }
}

TEST_F(JsonTokensTest, AnErrorOfATokenEndsTheObject) {
  ASSERT_EQ(start(R"({"a":1,"b":2,"c":3})"), simdjson::SUCCESS);
  int seen = 0;
  const auto error = tokens_.for_each_member(
      [&](std::string_view key, std::string_view) {
        ++seen;
        return key == "b" ? simdjson::STRING_ERROR : simdjson::SUCCESS;
      },
      [&](std::string_view) { return tokens_.skip(); });
  EXPECT_EQ(error, simdjson::STRING_ERROR);
  EXPECT_EQ(seen, 2);
}

TEST_F(JsonTokensTest, EscapesAreResolvedAndOtherTextsAreNotCopied) {
  ASSERT_EQ(start(R"(["plain", "a\tb\u00e9\"", 7, "\q"])"), simdjson::SUCCESS);
  std::vector<std::string> texts;
  const auto error = tokens_.for_each_item([&](std::size_t index) {
    std::string_view text = "unchanged";
    const auto inside = tokens_.take_text(text);
    if (index == 0) {
      EXPECT_EQ(text.data(), text_.get() + 2);
    }
    if (inside == simdjson::SUCCESS) texts.emplace_back(text);
    return inside;
  });
  EXPECT_EQ(error, simdjson::STRING_ERROR);
  EXPECT_EQ(texts, (std::vector<std::string>{"plain", "a\tb\xC3\xA9\"", "unchanged"}));
}

TEST_F(JsonTokensTest, TextsThatAreNoTokensAreRefused) {
  for (const std::string_view text : {std::string_view(""), std::string_view("  "), std::string_view("\"open"),
                                      std::string_view("\"\x01\""), std::string_view("\"\xFF\"")})
    EXPECT_NE(start(text), simdjson::SUCCESS) << text;
}

TEST_F(JsonTokensTest, WhatHasNoPlaceIsAnError) {
  for (const std::string_view text : {"{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{\"a\":}", "{1:2}",
                                      "{\"a\":1,}", "{\"a\":[1}", "{\"a\":{", "{\"a\":,}", "[1]"}) {
    if (start(text) != simdjson::SUCCESS) continue;
    EXPECT_NE(tokens_.for_each_member([&](std::string_view) { return tokens_.skip(); }), simdjson::SUCCESS) << text;
  }
}

TEST_F(JsonTokensTest, ALongerTextIsTakenAfterAShortOne) {
  ASSERT_EQ(start("[1]"), simdjson::SUCCESS);
  std::string text = "[0";
  for (int i = 0; i < 100000; ++i) text += ",1";
  ASSERT_EQ(start(text + "]"), simdjson::SUCCESS);
  std::size_t items = 0;
  EXPECT_EQ(tokens_.for_each_item([&](std::size_t) { return ++items, tokens_.skip(); }), simdjson::SUCCESS);
  EXPECT_EQ(items, 100001U);
}

}  // namespace
}  // namespace mindtorch::ingest::chrome
