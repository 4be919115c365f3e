// Cuts a text, parses the pieces side by side and puts them together.
#include "mindtorch/ingest/chrome/text_reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mindtorch/base/text.h"
#include "mindtorch/ingest/chrome/part_merger.h"
#include "mindtorch/ingest/chrome/part_reader.h"
#include "mindtorch/ingest/chrome/shares.h"
#include "mindtorch/ingest/chrome/trace_text.h"
#include "mindtorch/ingest/read_limits.h"
#include "mindtorch/trace/memory_budget.h"

namespace mindtorch::ingest::chrome {
namespace {

[[noreturn]] void throw_at(const char* at, std::string_view text, std::string_view purpose) {
  throw NeedsMemory({static_cast<std::uint64_t>(at - text.data()), "text", purpose});
}

// Consecutive pieces of `text`, parsed by one thread.
TracePart read_share(std::span<const TextPiece> pieces, std::string_view text, const TextLimits& limits) {
  PartReader reader(limits);
  for (const TextPiece& piece : pieces) {
    try {
      reader.read(piece);
    } catch (const trace::BudgetExceeded&) {
      throw_at(piece.text.data() + reader.position(), text, "its events");
    }
    if (reader.is_damaged()) break;
  }
  return reader.take();
}

std::vector<TracePart> read_side_by_side(std::span<const TextPiece> pieces, std::string_view text, TextLimits limits) {
  const std::size_t shares = count_shares(pieces.size(), limits.threads);
  limits.max_memory /= shares;
  return read_shares(shares, [&](std::size_t share) {
    const std::size_t begin = share * pieces.size() / shares, end = (share + 1) * pieces.size() / shares;
    return read_share(pieces.subspan(begin, end - begin), text, limits);
  });
}

// The same text with U+FFFD for bytes that are not UTF-8 and blanks for control characters, which some writers let through.
std::string repaired(std::string_view text) {
  std::string valid = valid_utf8(text);
  for (char& c : valid) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t') c = ' ';
  }
  return valid;
}

// Parses what can be parsed of a damaged text.
class DamagedText {
 public:
  DamagedText(std::string_view text, const TextLimits& limits) : text_(text), limits_(limits), merger_(TracePart()) {}

  TracePart read() {
    read({"", text_, ""}, kPieceSize);
    TracePart part = merger_.take();
    part.damage = damage_;
    return part;
  }

 private:
  // A damaged piece is cut smaller, down to single events. An event that is damaged itself is left out and counted.
  void read(const TextPiece& piece, std::size_t size) {
    TracePart part = read_share({&piece, 1}, text_, limits_);
    if (part.damage.empty()) return append(std::move(part), piece);
    const std::vector<TextPiece> smaller = cut_between_events(piece, size);
    if (smaller.size() > 1 || size > 1) {
      const std::size_t next_size = smaller.size() > 1 ? std::max<std::size_t>(1, size / 64) : 1;
      for (const TextPiece& part_of_piece : smaller) read(part_of_piece, next_size);
      return;
    }
    ++part.skipped["damaged"];
    if (damage_.empty()) damage_ = fmt::format("{}, at or after byte {} of the text", part.damage, piece.text.data() - text_.data());
    append(std::move(part), piece);
  }

  void append(TracePart&& part, const TextPiece& piece) {
    merger_.append(std::move(part));
    if (merger_.memory() > limits_.max_memory) throw_at(piece.text.data(), text_, "the events of a damaged text");
  }

  std::string_view text_;
  TextLimits limits_;
  PartMerger merger_;
  std::string damage_;
};

}  // namespace

TracePart read_text(std::string_view text, const TextLimits& limits) {
  const TextPiece whole{"", text, ""};
  if (std::vector<TracePart> parts = read_side_by_side(cut_between_events(whole, kPieceSize), text, limits);
      std::ranges::all_of(parts, [](const TracePart& part) { return part.damage.empty(); })) {
    return merge_parts(std::move(parts));
  }
  // A wrong guess where to cut, or really damaged.
  if (TracePart part = read_share({&whole, 1}, text, limits); part.damage.empty()) return part;
  const std::uint64_t copies = 2 * text.size();
  if (copies > limits.max_memory) throw_at(text.data(), text, "a repaired copy of a damaged text");
  TextLimits rest = limits;
  rest.max_memory -= copies;
  const std::string valid = repaired(text);
  const TextPiece whole_valid{"", valid, ""};
  if (TracePart part = read_share({&whole_valid, 1}, valid, rest); part.damage.empty()) return part;
  return DamagedText(valid, rest).read();
}

}  // namespace mindtorch::ingest::chrome
