// Lengths and slices of text in code points, as Python's len() and [a:b] count them. Used for column layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mindtorch::analyze {

// Code points of valid UTF-8.
std::size_t text_length(std::string_view text);

// Python's text[:end] and text[begin:]; negative positions count from the end.
std::string_view text_prefix(std::string_view text, std::int64_t end);
std::string_view text_suffix(std::string_view text, std::int64_t begin);

}  // namespace mindtorch::analyze
