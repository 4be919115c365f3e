// Numbers, texts and columns as bytes: exact round trip, nothing read past the end.
#include "mindtorch/trace/bytes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace mindtorch::trace {
namespace {

TEST(Bytes, NumbersOfAnySizeComeBack) {
  const std::vector<std::uint64_t> numbers = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, std::uint64_t{1} << 63, UINT64_MAX};
  ByteWriter out;
  for (const std::uint64_t n : numbers) {
    out.number(n);
    out.signed_number(static_cast<std::int64_t>(n));
  }
  ByteReader in(out.bytes());
  for (const std::uint64_t n : numbers) {
    EXPECT_EQ(in.number(), n);
    EXPECT_EQ(in.signed_number(), static_cast<std::int64_t>(n));
  }
  EXPECT_EQ(in.left(), 0u);
}

TEST(Bytes, SmallNumbersOfEitherSignTakeOneByte) {
  ByteWriter out;
  out.number(127);
  out.signed_number(-64);
  out.signed_number(63);
  EXPECT_EQ(out.bytes().size(), 3u);
}

TEST(Bytes, RealsAndTextsComeBack) {
  ByteWriter out;
  out.real(-0.0);
  out.real(std::numeric_limits<double>::infinity());
  out.text("");
  out.text(std::string_view("a\0b", 3));
  ByteReader in(out.bytes());
  EXPECT_TRUE(std::signbit(in.real()));
  EXPECT_EQ(in.real(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(in.text(), "");
  EXPECT_EQ(in.text(), std::string_view("a\0b", 3));
}

TEST(Bytes, ColumnsOfEveryWidthComeBack) {
  std::mt19937_64 random(2);
  for (int bits = 0; bits <= 64; ++bits) {
    std::vector<std::int64_t> values(100);
    for (std::int64_t& value : values) value = bits == 0 ? -7 : static_cast<std::int64_t>(random() >> (64 - bits)) - 7;
    ByteWriter out;
    out.column(values);
    std::vector<std::int64_t> got(values.size());
    ByteReader in(out.bytes());
    in.column(got);
    EXPECT_EQ(got, values) << bits;
    EXPECT_EQ(in.left(), 0u);
  }
}

TEST(Bytes, AColumnTakesOnlyTheBytesItsRangeNeeds) {
  ByteWriter constant, narrow, empty;
  constant.column(std::vector<std::int64_t>(1000, INT64_MIN));
  narrow.column(std::vector<std::int64_t>{1'000'000, 1'000'255});
  empty.column({});
  EXPECT_LT(constant.bytes().size(), 12u);
  EXPECT_EQ(narrow.bytes().size(), 3u + 1 + 2);
  EXPECT_EQ(empty.bytes().size(), 0u);
}

TEST(Bytes, EveryTruncationIsMalformed) {
  ByteWriter out;
  out.number(UINT64_MAX);
  out.text("text");
  out.real(1.5);
  out.column(std::vector<std::int64_t>{1, 1000, 100000});
  const auto read = [](std::span<const char> bytes) {
    ByteReader in(bytes);
    std::vector<std::int64_t> values(3);
    in.number(), in.text(), in.real(), in.column(values);
  };
  for (std::size_t n = 0; n < out.bytes().size(); ++n) EXPECT_THROW(read(out.bytes().first(n)), Malformed) << n;
  EXPECT_NO_THROW(read(out.bytes()));
}

TEST(Bytes, LyingLengthsAreMalformed) {
  const auto in = [](std::string_view bytes) { return ByteReader({bytes.data(), bytes.size()}); };
  EXPECT_THROW(in("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01").number(), Malformed);
  EXPECT_THROW(in("\x05"
                  "abc")
                   .text(),
               Malformed);
  EXPECT_THROW(in("\x7f").count(), Malformed);
  EXPECT_THROW(in("\x05").number_below(5, "it"), Malformed);
  std::vector<std::int64_t> values(1);
  EXPECT_THROW(in(std::string_view("\x00\x09"
                                   "123456789",
                                   11))
                   .column(values),
               Malformed);
}

}  // namespace
}  // namespace mindtorch::trace
