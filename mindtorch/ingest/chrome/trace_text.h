// Cuts the text of a Chrome trace into pieces that can be parsed side by side.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace mindtorch::ingest::chrome {

// A part of a text that is a document of its own once `prefix` and `suffix` are put around it.
struct TextPiece {
  std::string_view prefix;
  std::string_view text;
  std::string_view suffix;
};

// Cuts into pieces of about `size` bytes, between events that start with "ph", as torch and this library write them; one piece if there is
// no such place. The cuts are guessed without parsing, so a piece may fail to parse because of a wrong cut. Takes time in
// proportion to the text, whatever it holds.
std::vector<TextPiece> cut_between_events(const TextPiece& whole, std::size_t size);

}  // namespace mindtorch::ingest::chrome
