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

// A piece of a text that is cut between events. `is_object`: whether the whole text is an object and not a list.
TextPiece piece_of(std::string_view text, bool is_object, bool is_first, bool is_last);

// Where an event starts, behind another one, at or after `from`: "}, {"ph"". npos if there is none within a megabyte.
std::size_t find_event(std::string_view text, std::size_t from);

// Cuts into pieces of about `size` bytes, between events that start with "ph", as torch and this library write them; one piece if there is
// no such place. The cuts are guessed without parsing, so a piece may fail to parse because of a wrong cut. Takes time in
// proportion to the text, whatever it holds.
std::vector<TextPiece> cut_between_events(const TextPiece& whole, std::size_t size);

}  // namespace mindtorch::ingest::chrome
