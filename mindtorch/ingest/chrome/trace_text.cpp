// Looks for places between events.
#include "mindtorch/ingest/chrome/trace_text.h"

#include <algorithm>

namespace mindtorch::ingest::chrome {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

// Where an event starts on a line of its own, at or after `from`: "},\n  {\n "ph"". npos if there is none nearby.
//
// Each step goes on behind the white space that it has looked at. Going on at the next line instead would look at a run of empty lines once
// for each of them.
std::size_t find_event(std::string_view text, std::size_t from) {
  constexpr std::size_t kReach = std::size_t{1} << 20;
  const std::string_view near = text.substr(0, std::min(text.size(), from + kReach));
  for (std::size_t line = near.find('\n', from); line != std::string_view::npos;) {
    const std::size_t brace = near.find_first_not_of(kSpace, line);
    if (brace == std::string_view::npos) break;
    const std::size_t space = line;
    line = near.find('\n', brace);
    if (near[brace] != '{') continue;
    const std::size_t key = near.find_first_not_of(kSpace, brace + 1);
    if (key == std::string_view::npos || near.substr(key, 4) != "\"ph\"") continue;
    const std::size_t comma = near.find_last_not_of(kSpace, space);
    if (comma == std::string_view::npos || comma == 0 || near[comma] != ',') continue;
    const std::size_t end = near.find_last_not_of(kSpace, comma - 1);
    if (end != std::string_view::npos && near[end] == '}') return brace;
  }
  return std::string_view::npos;
}

}  // namespace

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
    const std::string_view piece = text.substr(begin, text.rfind(',', cut) - begin);
    if (pieces.empty()) {
      pieces.push_back({whole.prefix, piece, is_object ? "]}" : "]"});
    } else {
      pieces.push_back({"[", piece, "]"});
    }
    begin = cut;
  }
  if (pieces.empty()) return {whole};
  pieces.push_back({is_object ? "{\"traceEvents\":[" : "[", text.substr(begin), whole.suffix});
  return pieces;
}

}  // namespace mindtorch::ingest::chrome
