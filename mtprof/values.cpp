// Values of options are read as a whole: no character may be left, and no bit may be lost.
#include "mtprof/values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

namespace mindtorch::mtprof {
namespace {

// The number that `text` is, and nothing else.
template <class T>
std::optional<T> read_all(std::string_view text) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stopped == end ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> read_size(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<std::uint64_t> count = read_all<std::uint64_t>(text.substr(0, digits));
  std::string unit = CLI::detail::to_lower(CLI::detail::trim_copy(std::string(text.substr(digits))));
  constexpr std::string_view kUnits = "kmgtpe";
  int power = 0;
  if (const std::size_t at = unit.empty() ? kUnits.npos : kUnits.find(unit.front()); at != kUnits.npos) {
    power = static_cast<int>(at) + 1;
    unit.erase(0, unit.starts_with(std::string{kUnits[at], 'i'}) ? 2 : 1);
  }
  if (!count || (!unit.empty() && unit != "b") || (*count << (10 * power)) >> (10 * power) != *count) return std::nullopt;
  return *count << (10 * power);
}

template <class Accepts>
CLI::Validator validator(std::string what, Accepts accepts) {
  return {[what, accepts](std::string& text) { return accepts(text) ? std::string() : fmt::format("must be {}, got '{}'", what, text); },
          ""};
}

}  // namespace

CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return validator(fmt::format("a whole number from {} to {}", least, most), [least, most](const std::string& text) {
    const std::optional<std::int64_t> value = read_all<std::int64_t>(text);
    return value && *value >= least && *value <= most;
  });
}

CLI::Validator number(double least, double most) {
  return validator(fmt::format("a number from {} to {}", least, most), [least, most](const std::string& text) {
    const std::optional<double> value = read_all<double>(text);
    return value && *value >= least && *value <= most;
  });
}

CLI::Validator memory_size() {
  return validator("a size such as 512MB or 4GB", [](std::string& text) {
    const std::optional<std::uint64_t> bytes = read_size(text);
    if (bytes) text = std::to_string(*bytes);
    return bytes.has_value();
  });
}

CLI::Validator suffix(std::vector<std::string> suffixes) {
  const std::string list = fmt::format("{}", fmt::join(suffixes, ", "));
  return validator(fmt::format("a path that ends in one of {}", list), [suffixes = std::move(suffixes)](const std::string& path) {
    return std::ranges::any_of(suffixes, [&](const std::string& end) { return path.ends_with(end); });
  });
}

}  // namespace mindtorch::mtprof
