// Numbers straight from tokens.
#include "mindtorch/ingest/chrome/raw_json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

namespace mindtorch::ingest::chrome {
namespace {

TEST(RawJson, MicrosecondsBecomeNanoseconds) {
  EXPECT_EQ(parse_micros("0"), 0);
  EXPECT_EQ(parse_micros("12.5"), 12500);
  EXPECT_EQ(parse_micros("12.345"), 12345);
  EXPECT_EQ(parse_micros("12.3456"), 12346);
  EXPECT_EQ(parse_micros("\"7.001\""), 7001);
  EXPECT_EQ(parse_micros("-2.5"), -2500);
  EXPECT_EQ(parse_micros("1e3"), 1000000);
  EXPECT_EQ(parse_micros("3853721725500.665"), 3853721725500665);
}

TEST(RawJson, TimesOfEveryLengthAreExact) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    const auto ns = static_cast<std::int64_t>(random() % 8000000000000000 >> (random() % 53));
    EXPECT_EQ(parse_micros(fmt::format("{}.{:03}", ns / 1000, ns % 1000)), ns);
    EXPECT_EQ(parse_micros(fmt::format("{}", ns / 1000)), ns / 1000 * 1000);
  }
}

TEST(RawJson, DecimalsOfEveryLengthAreRounded) {
  const std::string decimals = "1234567890123456789012345";
  for (std::size_t count = 4; count <= decimals.size(); ++count) {
    const std::string text = "7." + decimals.substr(0, count);
    EXPECT_EQ(parse_micros(text), 7123) << text;
    EXPECT_EQ(parse_micros("1000000" + text), 10000007123) << text;
    EXPECT_EQ(parse_micros("0.0005" + decimals.substr(0, count)), 1) << text;
    for (const char wrong : {'x', '.', '/', ':', ' '}) {
      EXPECT_FALSE(parse_micros(text + wrong)) << text << wrong;
      EXPECT_FALSE(parse_micros(text.substr(0, 5) + wrong + text.substr(5))) << text << wrong;
    }
  }
}

TEST(RawJson, TextsOfEveryLengthAreCompared) {
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string text(size, 'a');
    EXPECT_TRUE(is_same(text, std::string(text)));
    EXPECT_FALSE(is_same(text, text + "a"));
    for (std::size_t place = 0; place < size; ++place) {
      std::string other = text;
      other[place] = 'b';
      EXPECT_FALSE(is_same(text, other)) << size << " " << place;
    }
  }
}

TEST(RawJson, WhatIsNoTimeIsRefused) {
  for (const char* text : {"", "-", ".", "abc", "null", "1e300", "99999999999999999999", "12.5.3", "\""})
    EXPECT_FALSE(parse_micros(text)) << text;
}

TEST(RawJson, IntegersAndReals) {
  EXPECT_EQ(parse_integer("-12"), -12);
  EXPECT_EQ(parse_integer("\"5\""), 5);
  EXPECT_FALSE(parse_integer("1.5"));
  EXPECT_FALSE(parse_integer("9223372036854775808"));
  EXPECT_EQ(parse_real("0.25"), 0.25);
  EXPECT_EQ(parse_real("2."), 2.0);
  EXPECT_EQ(trimmed("true \n"), "true");
  EXPECT_EQ(inside_quotes("\"a\""), "a");
}

}  // namespace
}  // namespace mindtorch::ingest::chrome
