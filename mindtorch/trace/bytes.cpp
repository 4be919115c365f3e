// Bytes of a chunk's payload.
#include "mindtorch/trace/bytes.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace mindtorch::trace {
namespace {

constexpr int kMaxWidth = 8;

template <int Width>
void pack(std::span<const std::int64_t> values, std::uint64_t base, char* planes) {
  const std::size_t n = values.size();
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint64_t value = static_cast<std::uint64_t>(values[i]) - base;
    for (int p = 0; p < Width; ++p) planes[static_cast<std::size_t>(p) * n + i] = static_cast<char>(value >> (8 * p));
  }
}

template <int Width>
void unpack(const char* planes, std::uint64_t base, std::span<std::int64_t> values) {
  const std::size_t n = values.size();
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t value = 0;
    for (int p = 0; p < Width; ++p)
      value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(planes[static_cast<std::size_t>(p) * n + i])) << (8 * p);
    values[i] = static_cast<std::int64_t>(base + value);
  }
}

// One instance for each width, so that the loops over planes are unrolled.
template <int... Width>
constexpr auto packers(std::integer_sequence<int, Width...>) {
  return std::array{&pack<Width>...};
}
template <int... Width>
constexpr auto unpackers(std::integer_sequence<int, Width...>) {
  return std::array{&unpack<Width>...};
}
constexpr auto kPack = packers(std::make_integer_sequence<int, kMaxWidth + 1>());
constexpr auto kUnpack = unpackers(std::make_integer_sequence<int, kMaxWidth + 1>());

}  // namespace

char* ByteWriter::grow(std::size_t n) {
  if (buffer_.size() - size_ < n) buffer_.resize(std::max(2 * buffer_.size(), size_ + n));
  char* at = buffer_.data() + size_;
  size_ += n;
  return at;
}

void ByteWriter::number(std::uint64_t value) {
  constexpr std::size_t kLongest = 10;
  char* const begin = grow(kLongest);
  char* at = begin;
  for (; value >= 0x80; value >>= 7) *at++ = static_cast<char>(value | 0x80);
  *at++ = static_cast<char>(value);
  size_ -= kLongest - static_cast<std::size_t>(at - begin);
}

void ByteWriter::real(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  char* at = grow(8);
  for (int i = 0; i < 8; ++i) at[i] = static_cast<char>(bits >> (8 * i));
}

void ByteWriter::text(std::string_view text) {
  number(text.size());
  if (!text.empty()) std::memcpy(grow(text.size()), text.data(), text.size());
}

void ByteWriter::column(std::span<const std::int64_t> values) {
  if (values.empty()) return;
  const auto [min, max] = std::ranges::minmax(values);
  const std::uint64_t range = static_cast<std::uint64_t>(max) - static_cast<std::uint64_t>(min);
  const auto width = static_cast<std::size_t>((std::bit_width(range) + 7) / 8);
  signed_number(min);
  u8(static_cast<std::uint8_t>(width));
  kPack[width](values, static_cast<std::uint64_t>(min), grow(width * values.size()));
}

const char* ByteReader::take(std::size_t n) {
  if (n > left()) throw Malformed("it ends early");
  const char* at = at_;
  at_ += n;
  return at;
}

std::uint64_t ByteReader::number() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const std::uint8_t byte = u8();
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  throw Malformed("a number is too long");
}

std::uint64_t ByteReader::number_below(std::uint64_t limit, const char* what) {
  const std::uint64_t value = number();
  if (value >= limit) throw Malformed(fmt::format("{} is {}, the limit is {}", what, value, limit));
  return value;
}

double ByteReader::real() {
  const char* at = take(8);
  std::uint64_t bits = 0;
  for (int i = 0; i < 8; ++i) bits |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(at[i])) << (8 * i);
  return std::bit_cast<double>(bits);
}

std::string_view ByteReader::text() {
  const std::size_t size = count();
  return {take(size), size};
}

void ByteReader::column(std::span<std::int64_t> values) {
  if (values.empty()) return;
  const auto base = static_cast<std::uint64_t>(signed_number());
  const std::uint8_t width = u8();
  if (width > kMaxWidth) throw Malformed("a column is too wide");
  kUnpack[width](take(width * values.size()), base, values);
}

}  // namespace mindtorch::trace
