// JsonCursor: digits as printf would write them.
#include "mindtorch/export/json_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

namespace mindtorch::exporter {
namespace {

template <class Write>
std::string written(Write write) {
  std::array<char, 64> text{};
  JsonCursor cursor(text.data());
  write(cursor);
  return {text.data(), cursor.position()};
}

TEST(JsonCursor, IntegersOfEveryLengthAndSign) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20000; ++i) {
    const auto value = static_cast<std::int64_t>(random() >> (random() % 64));
    EXPECT_EQ(written([&](JsonCursor& c) { c.number(value); }), fmt::format("{}", value));
    EXPECT_EQ(written([&](JsonCursor& c) { c.number(-value); }), fmt::format("{}", -value));
  }
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(written([&](JsonCursor& c) { c.number(kLeast); }), fmt::format("{}", kLeast));
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(written([&](JsonCursor& c) { c.number(kMost); }), fmt::format("{}", kMost));
}

TEST(JsonCursor, NumbersAroundPowersOfTenAndTwo) {
  for (std::uint64_t power = 1; power < 10'000'000'000'000'000'000U; power *= 10) {
    for (const std::uint64_t value : {power - 1, power, power + 1})
      EXPECT_EQ(written([&](JsonCursor& c) { c.number(value); }), fmt::format("{}", value));
  }
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t value = std::uint64_t{1} << bit;
    EXPECT_EQ(written([&](JsonCursor& c) { c.number(value); }), fmt::format("{}", value));
  }
}

TEST(JsonCursor, TimesHaveExactlyThreeDecimals) {
  EXPECT_EQ(written([](JsonCursor& c) { c.micros(0); }), "0.000");
  EXPECT_EQ(written([](JsonCursor& c) { c.micros(7); }), "0.007");
  EXPECT_EQ(written([](JsonCursor& c) { c.micros(1020); }), "1.020");
  EXPECT_EQ(written([](JsonCursor& c) { c.micros(-5); }), "-0.005");
  EXPECT_EQ(written([](JsonCursor& c) { c.micros(3853719000010123); }), "3853719000010.123");
  EXPECT_LE(written([](JsonCursor& c) { c.micros(std::numeric_limits<std::int64_t>::min()); }).size(), JsonCursor::kMaxMicros);
}

}  // namespace
}  // namespace mindtorch::exporter
