// Lengths and cuts of text in code points, as Python's len() and [a:b] count them. Used for column layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mindtorch::analyze {

// Code points of valid UTF-8.
std::size_t text_length(std::string_view text);

// Python's text[:end] and text[begin:]; negative positions count from the end.
std::string_view text_prefix(std::string_view text, std::int64_t end);
std::string_view text_suffix(std::string_view text, std::int64_t begin);

// Shortens a name to a column of `limit` as torch does: its start and "...". An unset limit keeps the whole name.
std::string fit_name(std::string_view text, std::optional<std::int64_t> limit);
// Shortens a source location, of which the end is more important: "..." and its end.
std::string fit_path(std::string_view text, std::size_t width);

}  // namespace mindtorch::analyze
