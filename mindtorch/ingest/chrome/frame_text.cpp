// Looks for the line number that stands between the marks of one of the two forms.
#include "mindtorch/ingest/chrome/frame_text.h"

#include <charconv>
#include <optional>

namespace mindtorch::ingest::chrome {
namespace {

// The first number in `text` that stands between `open` and `close`.
std::optional<FrameText> split_at(std::string_view text, char open, std::string_view close) {
  for (std::size_t mark = text.find(open); mark != std::string_view::npos; mark = text.find(open, mark + 1)) {
    const std::string_view rest = text.substr(mark + 1);
    std::int32_t line = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), line);
    const std::string_view after = rest.substr(static_cast<std::size_t>(end - rest.data()));
    if (error == std::errc() && after.starts_with(close)) return FrameText{text.substr(0, mark), line, after.substr(close.size())};
  }
  return std::nullopt;
}

}  // namespace

FrameText split_frame(std::string_view text) {
  if (const auto ours = split_at(text, ':', ":")) return *ours;
  if (const auto torch = split_at(text, '(', "): ")) return *torch;
  return {{}, 0, text};
}

}  // namespace mindtorch::ingest::chrome
