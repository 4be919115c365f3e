// Text: JSON escaping and UTF-8 repair. Any byte string becomes a valid JSON string; no name is rewritten, only escaped.
#pragma once

#include <string>
#include <string_view>

namespace mindtorch {

// Appends `text` escaped for the inside of a JSON string. Invalid UTF-8 bytes become U+FFFD, one for each bad byte.
void append_json_escaped(std::string& out, std::string_view text);

// `text` as a JSON string, quotes included.
std::string json_quoted(std::string_view text);

// True if `text` is one complete JSON value (RFC 8259), white space around it allowed.
bool is_json(std::string_view text);

// `text` with each invalid UTF-8 byte replaced by U+FFFD.
std::string valid_utf8(std::string_view text);

}  // namespace mindtorch
