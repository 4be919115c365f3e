// Writes literals and digits of JSON into memory that is known to be large enough. Exporters do so a million times per file.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace mindtorch::exporter {

inline constexpr std::array<char, 200> kDigitPairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

inline constexpr std::array<std::uint64_t, 20> kPowersOfTen = [] {
  std::array<std::uint64_t, 20> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = 10 * powers[i - 1];
  return powers;
}();

constexpr std::size_t decimal_digits(std::uint64_t value) {
  value |= 1;  // 0 has a digit too; no power of ten above 1 is odd
  const std::size_t guess = static_cast<std::size_t>(std::bit_width(value)) * 1233 >> 12;  // 4096/1233 is about log2(10)
  return guess + (value >= kPowersOfTen[guess] ? 1 : 0);
}

// `,"name":`, built at compile time from a key such as those in mindtorch/trace/chrome_format.h.
template <auto Name>
inline constexpr auto kNextKey = [] {
  constexpr std::string_view kName = Name;
  std::array<char, kName.size() + 4> text{',', '"'};
  std::size_t at = 2;
  for (const char c : kName) text[at++] = c;
  text[at++] = '"';
  text[at] = ':';
  return text;
}();

template <auto Name>
void append_key(std::string& out) {
  out.append(kNextKey<Name>.data(), kNextKey<Name>.size());
}

// A position in a buffer. Every call writes and advances it. Nothing is checked: the caller reserves memory for the longest possible text.
class JsonCursor {
 public:
  static constexpr std::size_t kMaxNumber = 21;  // characters of the longest integer
  static constexpr std::size_t kMaxMicros = 22;  // characters of the longest time

  explicit JsonCursor(char* at) : at_(at) {}
  char* position() const { return at_; }

  template <std::size_t N>
  JsonCursor& literal(const char (&text)[N]) {
    std::memcpy(at_, text, N - 1);
    at_ += N - 1;
    return *this;
  }

  // The key of the first member of an object, and of those that follow.
  template <auto Name>
  JsonCursor& first_key() {
    return bytes({kNextKey<Name>.data() + 1, kNextKey<Name>.size() - 1});
  }
  template <auto Name>
  JsonCursor& next_key() {
    return bytes({kNextKey<Name>.data(), kNextKey<Name>.size()});
  }

  JsonCursor& bytes(std::string_view text) {
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
    return *this;
  }

  // From the last digit to the first, in place.
  JsonCursor& number(std::uint64_t value) {
    char* const end = at_ + decimal_digits(value);
    at_ = end;
    char* first = end;
    for (; value >= 100; value /= 100) std::memcpy(first -= 2, &kDigitPairs[2 * (value % 100)], 2);
    if (value >= 10) {
      std::memcpy(first - 2, &kDigitPairs[2 * value], 2);
    } else {
      first[-1] = static_cast<char>('0' + value);
    }
    return *this;
  }

  JsonCursor& number(std::int64_t value) {
    if (value < 0) *at_++ = '-';
    return number(value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value));
  }

  // Nanoseconds as microseconds with exactly three decimals.
  JsonCursor& micros(std::int64_t ns) {
    if (ns < 0) *at_++ = '-';
    const std::uint64_t magnitude = ns < 0 ? ~static_cast<std::uint64_t>(ns) + 1 : static_cast<std::uint64_t>(ns);
    number(magnitude / 1000);
    const std::uint64_t rest = magnitude % 1000;
    at_[0] = '.';
    at_[1] = static_cast<char>('0' + rest / 100);
    std::memcpy(at_ + 2, &kDigitPairs[2 * (rest % 100)], 2);
    at_ += 4;
    return *this;
  }

 private:
  char* at_;
};

}  // namespace mindtorch::exporter
