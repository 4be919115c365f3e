// Reads a Chrome trace: cut, parse side by side, put together.
#include "mindtorch/ingest/chrome/chrome_reader.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <thread>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/base/text.h"
#include "mindtorch/ingest/chrome/part_reader.h"
#include "mindtorch/ingest/chrome/trace_assembly.h"
#include "mindtorch/ingest/chrome/trace_part.h"
#include "mindtorch/ingest/chrome/trace_text.h"

namespace mindtorch::ingest {
namespace {

using chrome::PartReader;
using chrome::TextPiece;
using chrome::TracePart;

constexpr std::size_t kPieceSize = std::size_t{2} << 20;  // text and index of a piece stay in the cache
constexpr std::size_t kMaxThreads = 8;

// Consecutive pieces, parsed by one thread.
TracePart read_share(std::span<const TextPiece> pieces, bool keep_flows) {
  PartReader reader(keep_flows);
  for (const TextPiece& piece : pieces) {
    reader.read(piece);
    if (reader.is_damaged()) break;
  }
  return reader.take();
}

std::vector<TracePart> read_side_by_side(std::span<const TextPiece> pieces, bool keep_flows) {
  const std::size_t shares = std::min({pieces.size(), kMaxThreads, std::max<std::size_t>(1, std::thread::hardware_concurrency())});
  std::vector<TracePart> parts(shares);
  std::vector<std::exception_ptr> errors(shares);
  const auto run = [&](std::size_t share) {
    const std::size_t begin = share * pieces.size() / shares, end = (share + 1) * pieces.size() / shares;
    try {
      parts[share] = read_share(pieces.subspan(begin, end - begin), keep_flows);
    } catch (...) {
      errors[share] = std::current_exception();
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t share = 1; share < shares; ++share) threads.emplace_back(run, share);
  run(0);
  threads.clear();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
  return parts;
}

TracePart read_one(const TextPiece& piece, bool keep_flows) { return read_share({&piece, 1}, keep_flows); }

// Some writers let bytes through that are no UTF-8, or raw control characters.
std::string repaired(std::string_view text) {
  std::string valid = valid_utf8(text);
  for (char& c : valid) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r' && c != '\t') c = ' ';
  }
  return valid;
}

// Parses what can be parsed: a damaged piece is cut smaller, down to single events; an event that is damaged itself is left out and
// counted.
void read_around_damage(const TextPiece& piece, std::size_t size, bool keep_flows, TracePart& into) {
  TracePart part = read_one(piece, keep_flows);
  if (part.damage.empty()) return append_part(into, std::move(part));
  const std::vector<TextPiece> smaller = chrome::cut_between_events(piece, size);
  if (smaller.size() > 1 || size > 1) {
    const std::size_t next_size = smaller.size() > 1 ? std::max<std::size_t>(1, size / 64) : 1;
    for (const TextPiece& part_of_piece : smaller) read_around_damage(part_of_piece, next_size, keep_flows, into);
    return;
  }
  ++part.skipped["damaged"];
  into.damage = part.damage;
  append_part(into, std::move(part));
}

TracePart read_parts(std::string_view text, bool keep_flows) {
  const TextPiece whole{"", text, ""};
  const std::vector<TextPiece> pieces = chrome::cut_between_events(whole, kPieceSize);
  std::vector<TracePart> parts = read_side_by_side(pieces, keep_flows);
  if (std::ranges::all_of(parts, [](const TracePart& part) { return part.damage.empty(); })) {
    for (std::size_t i = 1; i < parts.size(); ++i) append_part(parts[0], std::move(parts[i]));
    return std::move(parts[0]);
  }
  // A wrong guess where to cut, or really damaged.
  if (TracePart part = read_one(whole, keep_flows); part.damage.empty()) return part;
  const std::string valid = repaired(text);
  if (TracePart part = read_one({"", valid, ""}, keep_flows); part.damage.empty()) return part;
  TracePart part;
  read_around_damage({"", valid, ""}, kPieceSize, keep_flows, part);
  return part;
}

FlowEnds match_flows(std::vector<std::uint64_t>& starts, std::vector<std::uint64_t>& ends) {
  std::ranges::sort(starts);
  std::ranges::sort(ends);
  std::vector<std::uint64_t> alone;
  std::ranges::set_difference(starts, ends, std::back_inserter(alone));
  const std::size_t starts_alone = alone.size();
  std::ranges::set_difference(ends, starts, std::back_inserter(alone));
  return {starts.size(), ends.size(), starts_alone, alone.size() - starts_alone};
}

}  // namespace

ChromeReadResult read_chrome_trace(const std::string& path, const ChromeReadOptions& options) {
  const chrome::TraceText text(path);
  const std::size_t first = text.view().find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text.view()[first] != '{' && text.view()[first] != '[')) {
    throw_error<InvalidArgument>("ingest.read_chrome_trace", "'{}' is not a Chrome trace: it starts with neither '{{' nor '['", path);
  }
  TracePart part = read_parts(text.view(), options.check_flows);
  ChromeReadResult result;
  result.elements = part.elements;
  result.skipped = part.skipped;
  result.flows = match_flows(part.flow_starts, part.flow_ends);
  if (!part.damage.empty()) {
    result.damage =
        fmt::format("{} of {} events cannot be read: {}", part.skipped["damaged"], part.elements + part.skipped["damaged"], part.damage);
  }
  result.recording = chrome::assemble(std::move(part));
  if (result.damage) result.recording.losses.push_back({trace::LossReason::kDamagedFile, result.skipped["damaged"], path, *result.damage});
  return result;
}

}  // namespace mindtorch::ingest
