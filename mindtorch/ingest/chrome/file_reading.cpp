// Buffers that go along a file.
#include "mindtorch/ingest/chrome/file_reading.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mindtorch/ingest/chrome/part_merger.h"
#include "mindtorch/ingest/chrome/part_reader.h"
#include "mindtorch/ingest/chrome/shares.h"
#include "mindtorch/ingest/chrome/trace_text.h"

namespace mindtorch::ingest::chrome {
namespace {

constexpr std::size_t kTail = std::size_t{64} << 10;       // of a piece: a cut is looked for there
constexpr std::size_t kMostBuffer = std::size_t{8} << 20;  // for events that are longer than pieces
constexpr std::string_view kNoPlace = "no place to cut";

// The text from `begin` to `end`, which are places between events or the ends of the file.
struct Share {
  std::size_t begin = 0, end = 0;
};

std::string bytes_at(const InputFile& file, std::size_t offset, std::size_t size) {
  std::string bytes(std::min(size, file.size() - std::min(offset, file.size())), '\0');
  bytes.resize(file.read(bytes.data(), bytes.size(), offset));
  return bytes;
}

// The pieces of a share, one after another.
class Pieces {
 public:
  Pieces(const InputFile& file, Share share, bool is_object) : file_(file), share_(share), at_(share.begin), is_object_(is_object) {
    grow();
  }

  // The next piece, which is valid until the next call. False at the end, or if the share cannot be cut.
  bool next(TextPiece& piece) {
    if (is_done_ || has_failed_) return false;
    std::memmove(buffer_.get(), buffer_.get() + used_, filled_ - used_);
    filled_ -= used_;
    used_ = 0;
    while (fill()) {
      if (is_done_ || find_cut()) {
        piece = take_piece();
        return true;
      }
      capacity_ < kMostBuffer ? grow() : fail();
    }
    return false;
  }
  bool has_failed() const { return has_failed_; }

 private:
  void fail() { has_failed_ = true; }

  void grow() {
    capacity_ = std::max(kPieceSize + kTail, 2 * capacity_);
    auto larger = std::make_unique_for_overwrite<char[]>(capacity_);
    if (filled_ > 0) std::memcpy(larger.get(), buffer_.get(), filled_);
    buffer_ = std::move(larger);
  }

  // Fills the buffer as far as the share goes. False if it cannot.
  bool fill() {
    const std::size_t wanted = std::min(capacity_ - filled_, share_.end - at_);
    if (has_failed_ || file_.read(buffer_.get() + filled_, wanted, at_) != wanted) fail();
    filled_ += wanted;
    at_ += wanted;
    is_done_ = at_ == share_.end;
    return !has_failed_;
  }

  bool find_cut() {
    used_ = find_event({buffer_.get(), filled_}, filled_ - kTail);
    if (used_ != std::string_view::npos) return true;
    used_ = 0;
    return false;
  }

  // Up to the cut, without the comma in front of it.
  TextPiece take_piece() {
    const bool is_first = std::exchange(is_first_, false) && share_.begin == 0, is_last = is_done_ && share_.end == file_.size();
    const std::string_view text(buffer_.get(), is_done_ ? filled_ : used_);
    return piece_of(is_last ? text : text.substr(0, text.rfind(',')), is_object_, is_first, is_last);
  }

  const InputFile& file_;
  Share share_;
  std::size_t at_;
  bool is_object_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0, filled_ = 0, used_ = 0;
  bool is_first_ = true, is_done_ = false, has_failed_ = false;
};

// Cuts the file into shares of about the same size; fewer if there is no place to cut.
std::vector<Share> cut_into_shares(const InputFile& file, std::size_t count) {
  constexpr std::size_t kBefore = 256;  // what is before an event is looked at too
  std::vector<Share> shares;
  std::size_t begin = 0;
  for (std::size_t k = 1; k < count; ++k) {
    const std::size_t from = k * file.size() / count - kBefore;
    const std::size_t cut = find_event(bytes_at(file, from, kPieceSize), kBefore);
    if (cut == std::string_view::npos) continue;
    shares.push_back({begin, from + cut});
    begin = from + cut;
  }
  shares.push_back({begin, file.size()});
  return shares;
}

TracePart read_pieces(const InputFile& file, Share share, bool is_object, const TextLimits& limits) {
  Pieces pieces(file, share, is_object);
  PartReader reader(limits);
  TextPiece piece;
  while (!reader.is_damaged() && pieces.next(piece)) reader.read(piece);
  TracePart part = reader.take();
  if (pieces.has_failed()) part.damage = kNoPlace;
  return part;
}

}  // namespace

std::optional<TracePart> read_file(const InputFile& file, TextLimits limits) {
  const std::string beginning = bytes_at(file, 0, kTail);
  const std::size_t first = beginning.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (beginning[first] != '{' && beginning[first] != '[')) return std::nullopt;
  const std::vector<Share> shares = cut_into_shares(file, count_shares(file.size() / kPieceSize + 1, limits.threads));
  limits.max_memory /= shares.size();
  std::vector<TracePart> parts =
      read_shares(shares.size(), [&](std::size_t share) { return read_pieces(file, shares[share], beginning[first] == '{', limits); });
  const auto is_whole = [](const TracePart& part) { return part.damage.empty(); };
  return std::ranges::all_of(parts, is_whole) ? std::optional(merge_parts(std::move(parts))) : std::nullopt;
}

}  // namespace mindtorch::ingest::chrome
