// Converts tokens of a JSON text to numbers and strings, faster than a general parser does.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace mindtorch::ingest::chrome {

// A token without white space after it, and for a string without its quotes (escapes stay as they are).
inline std::string_view trimmed(std::string_view token) {
  while (!token.empty() && (token.back() == ' ' || token.back() == '\n' || token.back() == '\r' || token.back() == '\t'))
    token.remove_suffix(1);
  return token;
}
inline bool is_string(std::string_view token) { return token.size() >= 2 && token.front() == '"'; }
inline std::string_view inside_quotes(std::string_view token) { return is_string(token) ? token.substr(1, token.size() - 2) : token; }

// The same as ==, without a call of the library.
template <std::size_t N>
bool is_text(std::string_view text, const char (&expected)[N]) {
  return text.size() == N - 1 && std::memcmp(text.data(), expected, N - 1) == 0;
}

// The same as ==, without a call of the library where the texts are short.
inline bool is_same(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  const auto differ = [&](auto word) {  // in their first or their last bytes
    decltype(word) first_a, first_b, last_a, last_b;
    std::memcpy(&first_a, a.data(), sizeof word);
    std::memcpy(&first_b, b.data(), sizeof word);
    std::memcpy(&last_a, a.data() + a.size() - sizeof word, sizeof word);
    std::memcpy(&last_b, b.data() + b.size() - sizeof word, sizeof word);
    return ((first_a ^ first_b) | (last_a ^ last_b)) != 0;
  };
  if (a.size() > 2 * sizeof(std::uint64_t)) return std::memcmp(a.data(), b.data(), a.size()) == 0;
  if (a.size() >= sizeof(std::uint64_t)) return !differ(std::uint64_t{});
  if (a.size() >= sizeof(std::uint32_t)) return !differ(std::uint32_t{});
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

// Sets `into` and returns true if the token is an integer; otherwise changes nothing. For the hot loop: an optional that is returned from a
// call is written in two parts and read as one, for which processors wait.
inline bool read_integer(std::string_view token, std::int64_t& into) {
  token = inside_quotes(token);
  const char* at = token.data();
  const char* const end = at + token.size();
  std::int64_t value = 0;
  constexpr std::size_t kMostDigits = 18;  // that always fit
  if (token.size() <= kMostDigits) {
    for (; at != end && *at >= '0' && *at <= '9'; ++at) value = value * 10 + (*at - '0');
  }
  if (at != end || token.empty()) {
    const auto [stop, error] = std::from_chars(token.data(), end, value);
    if (error != std::errc() || stop != end) return false;
  }
  into = value;
  return true;
}

inline std::optional<std::int64_t> parse_integer(std::string_view token) {
  std::int64_t value = 0;
  return read_integer(token, value) ? std::optional(value) : std::nullopt;
}

inline std::optional<double> parse_real(std::string_view token) {
  token = inside_quotes(token);
  double value = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return value;
}

// Eight characters as a number, if they are digits (SWAR: all at once). They stand in memory in reading order.
inline bool parse_eight_digits(const char* text, std::int64_t& value) {
  std::uint64_t word;
  std::memcpy(&word, text, sizeof word);
  const std::uint64_t digits = word - 0x3030303030303030;
  if (((digits | (word + 0x4646464646464646)) & 0x8080808080808080) != 0) return false;
  const std::uint64_t pairs = digits * 10 + (digits >> 8);
  value = static_cast<std::int64_t>(
      (((pairs & 0x000000FF000000FF) * 0x000F424000000064 + ((pairs >> 16) & 0x000000FF000000FF) * 0x0000271000000001) >> 32));
  return true;
}

// Whether all characters of `text` are digits. The eight characters before its end can be read.
inline bool are_digits(std::string_view text) {
  std::int64_t ignored = 0;
  while (text.size() >= 8) {
    if (!parse_eight_digits(text.data(), ignored)) return false;
    text.remove_prefix(8);
  }
  if (text.empty()) return true;
  // The characters in front of the rest are shifted out, and zeros take their place.
  std::uint64_t word;
  std::memcpy(&word, text.data() + text.size() - sizeof word, sizeof word);
  const std::size_t bits = 8 * text.size();
  word = word >> (64 - bits) | std::uint64_t{0x3030303030303030} << bits;
  return parse_eight_digits(reinterpret_cast<const char*>(&word), ignored);
}

// Microseconds as nanoseconds: exact for any number of digits, decimals beyond the third are rounded. Empty if the token is not a number or
// does not fit.
inline std::optional<std::int64_t> parse_micros(std::string_view token) {
  token = inside_quotes(token);
  const char* at = token.data();
  const char* const end = at + token.size();
  std::int64_t value = 0;
  int digits = 0, decimals = 0;
  if (token.size() >= 8 && parse_eight_digits(at, value)) {
    at += 8;
    digits = 8;
  }
  constexpr int kMostDigits = 15;  // with three decimals they fit
  for (; at != end && *at >= '0' && *at <= '9' && digits <= kMostDigits; ++at, ++digits) value = value * 10 + (*at - '0');
  if (at != end && *at == '.' && digits > 0 && digits <= kMostDigits) {
    for (++at; at != end && *at >= '0' && *at <= '9' && decimals < 3; ++at, ++decimals) value = value * 10 + (*at - '0');
    if (decimals == 0) digits = 0;
    if (decimals == 3 && at != end && *at >= '5' && *at <= '9') ++value;
    const std::string_view rest(at, static_cast<std::size_t>(end - at));
    if (decimals == 3 && token.size() >= 8 && are_digits(rest)) at = end;
    while (decimals == 3 && at != end && *at >= '0' && *at <= '9') ++at;
  }
  if (at == end && digits > 0 && digits <= kMostDigits) {
    for (; decimals < 3; ++decimals) value *= 10;
    return value;
  }
  const std::optional<double> real = parse_real(token);
  if (!real || !(std::abs(*real) < 9e15)) return std::nullopt;
  return std::llround(*real * 1000);
}

}  // namespace mindtorch::ingest::chrome
