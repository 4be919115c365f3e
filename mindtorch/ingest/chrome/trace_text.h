// The text of a Chrome trace in memory, ready for a JSON parser, and cut into pieces that can be parsed side by side.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mindtorch::ingest::chrome {

// What parsers may read beyond the end of a text.
inline constexpr std::size_t kPadding = 64;

// A file's text: mapped, or decompressed if it is gzip. Readable kPadding bytes beyond its end.
class TraceText {
 public:
  // Throws IoError if the file cannot be read, InvalidArgument if it is damaged gzip.
  explicit TraceText(const std::string& path);
  ~TraceText();
  TraceText(const TraceText&) = delete;
  TraceText& operator=(const TraceText&) = delete;

  std::string_view view() const { return view_; }

 private:
  void map(const std::string& path);

  void* mapping_ = nullptr;
  std::size_t mapping_size_ = 0;
  std::unique_ptr<char[]> decompressed_;
  std::string_view view_;
};

// A part of a text that is a document of its own once `prefix` and `suffix` are put around it.
struct TextPiece {
  std::string_view prefix;
  std::string_view text;
  std::string_view suffix;
};

// Cuts into pieces of about `size` bytes, between events that start on a line of their own, as torch and this library write them; one piece
// if there is no such place. A guess made without parsing: a piece that does not parse may be a wrong guess.
std::vector<TextPiece> cut_between_events(const TextPiece& whole, std::size_t size);

}  // namespace mindtorch::ingest::chrome
