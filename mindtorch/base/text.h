// Text: searching, JSON escaping and UTF-8 repair. Any byte string becomes a valid JSON string; no name is rewritten, only escaped.
#pragma once

#include <string>
#include <string_view>

#include "mindtorch/base/export.h"

namespace mindtorch {

// True if `part` occurs in `text`.
inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// Appends `text` escaped for the inside of a JSON string. Invalid UTF-8 bytes become U+FFFD, one for each bad byte.
// The result holds no control character, so that it can be printed.
MINDTORCH_EXPORT void append_json_escaped(std::string& out, std::string_view text);

// `text` as a JSON string, quotes included.
MINDTORCH_EXPORT std::string json_quoted(std::string_view text);

// True if `text` is one complete JSON value (RFC 8259), white space around it allowed, whose strings are valid Unicode: an escape of half a
// surrogate pair ("\ud800") makes it false.
MINDTORCH_EXPORT bool is_json(std::string_view text);

// `text` with each invalid UTF-8 byte replaced by U+FFFD.
MINDTORCH_EXPORT std::string valid_utf8(std::string_view text);

// Valid UTF-8 that can be shown anywhere: the same, with each control character (U+0000 to U+001F, U+007F to U+009F) and the two characters
// that XML forbids (U+FFFE, U+FFFF) replaced by U+FFFD too. Tabs and line ends stay if `keep_breaks`.
MINDTORCH_EXPORT std::string without_controls(std::string_view text, bool keep_breaks = false);

}  // namespace mindtorch
