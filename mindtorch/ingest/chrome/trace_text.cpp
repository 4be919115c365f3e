// Looks for places between events.
#include "mindtorch/ingest/chrome/trace_text.h"

#include <algorithm>

namespace mindtorch::ingest::chrome {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

// The last character before `at` that is not white space; npos if there is none.
std::size_t before(std::string_view text, std::size_t at) {
  return at == 0 ? std::string_view::npos : text.find_last_not_of(kSpace, at - 1);
}

}  // namespace

// The quotes of "ph" are not escaped, so in a valid text they cannot be inside of a string. White space is looked at only in front of a
// match, and at most once for each match.
std::size_t find_event(std::string_view text, std::size_t from) {
  constexpr std::string_view kKey = "\"ph\"";
  constexpr std::size_t kReach = std::size_t{1} << 20;
  const std::string_view near = text.substr(0, std::min(text.size(), from + kReach));
  for (std::size_t key = near.find(kKey, from); key != std::string_view::npos; key = near.find(kKey, key + 1)) {
    const std::size_t brace = before(near, key);
    if (brace == std::string_view::npos || brace < from || near[brace] != '{') continue;
    const std::size_t comma = before(near, brace);
    if (comma == std::string_view::npos || near[comma] != ',') continue;
    const std::size_t end = before(near, comma);
    if (end != std::string_view::npos && near[end] == '}') return brace;
  }
  return std::string_view::npos;
}

TextPiece piece_of(std::string_view text, bool is_object, bool is_first, bool is_last) {
  return {is_first ? "" : is_last && is_object ? "{\"traceEvents\":[" : "[", text, is_last ? "" : is_first && is_object ? "]}" : "]"};
}

std::vector<TextPiece> cut_between_events(const TextPiece& whole, std::size_t size) {
  const std::string_view text = whole.text;
  const std::string_view beginning = whole.prefix.empty() ? text : whole.prefix;
  const std::size_t first = beginning.find_first_not_of(kSpace);
  const bool is_object = first != std::string_view::npos && beginning[first] == '{';
  std::vector<TextPiece> pieces;
  std::size_t begin = 0;
  while (text.size() - begin > size + size / 2) {
    const std::size_t cut = find_event(text, begin + size);
    if (cut == std::string_view::npos) break;
    pieces.push_back(piece_of(text.substr(begin, text.rfind(',', cut) - begin), is_object, pieces.empty(), false));
    begin = cut;
  }
  if (pieces.empty()) return {whole};
  pieces.push_back(piece_of(text.substr(begin), is_object, false, true));
  pieces.front().prefix = whole.prefix;
  pieces.back().suffix = whole.suffix;
  return pieces;
}

}  // namespace mindtorch::ingest::chrome
