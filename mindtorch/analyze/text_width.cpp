// Counting and cutting code points.
#include "mindtorch/analyze/text_width.h"

#include <algorithm>

namespace mindtorch::analyze {
namespace {

bool starts_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

// Byte position of a Python index.
std::size_t position(std::string_view text, std::int64_t index) {
  const auto length = static_cast<std::int64_t>(text_length(text));
  std::int64_t left = std::clamp(index < 0 ? index + length : index, std::int64_t{0}, length);
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (starts_code_point(text[at]) && left-- == 0) break;
  }
  return at;
}

}  // namespace

std::size_t text_length(std::string_view text) { return static_cast<std::size_t>(std::ranges::count_if(text, starts_code_point)); }
std::string_view text_prefix(std::string_view text, std::int64_t end) { return text.substr(0, position(text, end)); }
std::string_view text_suffix(std::string_view text, std::int64_t begin) { return text.substr(position(text, begin)); }

std::string fit_name(std::string_view text, std::optional<std::int64_t> limit) {
  if (!limit || static_cast<std::int64_t>(text_length(text)) < *limit - 3) return std::string(text);
  return std::string(text_prefix(text, *limit - 3)) + "...";
}

std::string fit_path(std::string_view text, std::size_t width) {
  const std::size_t length = text_length(text);
  if (length <= width) return std::string(text);
  const std::string_view end = text_suffix(text, static_cast<std::int64_t>(length - width));
  return width <= 3 ? std::string(end) : "..." + std::string(text_suffix(end, 3));
}

}  // namespace mindtorch::analyze
