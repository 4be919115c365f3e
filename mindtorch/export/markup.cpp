// Escaping for XML and HTML.
#include "mindtorch/export/markup.h"

#include "mindtorch/base/text.h"

namespace mindtorch::exporter {
namespace {

bool starts_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }

}  // namespace

std::string markup_escaped(std::string_view text) {
  std::string out;
  for (const char c : without_controls(text, true)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\r': out += "&#13;"; break;  // a parser would read it as a line end
      default: out += c;
    }
  }
  return out;
}

std::string shortened(std::string_view text, std::size_t limit) {
  if (limit == 0) return "";
  std::size_t characters = 0, keep = text.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!starts_character(text[i])) continue;
    if (characters == limit - 1) keep = i;
    if (characters++ == limit) return std::string(text.substr(0, keep)) + "…";
  }
  return std::string(text);
}

}  // namespace mindtorch::exporter
