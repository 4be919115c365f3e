// Packing of pieces.
//
// A piece is {track, first ordinal, unit, number of events}, the columns kind, flags, device, name, link, start, duration, then the rows of
// inputs, attributes and stacks. Late rows are the number of a piece and the same three tables.
#include "mindtorch/trace/piece.h"

#include <algorithm>
#include <array>
#include <limits>

#include "mindtorch/base/error.h"

namespace mindtorch::trace {
namespace {

constexpr std::uint64_t kMaxOrdinal = std::uint64_t{1} << 48;

// How links are written: as they are, or each as {0: none, n + 1: zigzag difference to the last link of the same kind}. Sequence numbers
// and correlation ids mostly count up by one.
enum class LinkCode : std::uint8_t { kPlain = 0, kByKind = 1 };
using LastLinks = std::array<std::uint64_t, 256>;

// Every column has its own code below, so for_each() cannot serve.
static_assert(EventColumns::field_count() == 7 && MemoryColumns::field_count() == 7 && SampleColumns::field_count() == 5,
              "a new column must be packed and unpacked here");

// Counts the memory for `rows` rows. A piece of a few bytes can hold kMaxPieceEvents of them, as a column of equal values is stored as one.
template <class AnyColumns>
void count_rows(ByteReader& in, std::size_t rows) {
  in.room_for<char>(rows * AnyColumns::row_bytes());
}

bool durations_fit(std::span<const std::int64_t> starts, std::span<const std::int64_t> durations, TimeUnit unit) {
  const std::int64_t least = unit == TimeUnit::kTicks ? kStillOpen : 0;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    std::int64_t end;
    if (durations[i] < least) return false;
    if (unit == TimeUnit::kNanoseconds && __builtin_add_overflow(starts[i], durations[i], &end)) return false;
  }
  return true;
}

void check(const Piece& piece, KnownIds known) {
  const std::size_t n = piece.size();
  const auto refuse = [](std::string_view what) { throw_error<InvalidArgument>("trace.save", "a piece {}", what); };
  const EventFields<ConstSpan>& events = piece.events;
  events.for_each([&](const auto& column) { column.size() == n ? void() : refuse("has columns of different length"); }, events);
  if (n > kMaxPieceEvents) refuse("has too many events");
  if (piece.first_ordinal >= kMaxOrdinal) refuse("starts at an impossible ordinal");
  if (n > 0 && std::ranges::max(events.name) >= known.names) refuse("has a name that was not added");
  if (n > 0 && static_cast<int>(std::ranges::max(events.kind)) >= kEventKinds) refuse("has an event of unknown kind");
  if (!durations_fit(events.start_ns, events.duration_ns, piece.unit)) refuse("has an event that ends before it starts");
}

template <class T>
void cut(SideTable<T>& table, std::size_t rows) {
  table.events.resize(rows);
  table.offsets.resize(rows + 1);
  table.values.resize(table.offsets.back());
}

template <class T>
void cut(SharedTable<T>& table, std::size_t rows) {
  table.events.resize(rows);
  table.shared.resize(rows);
}

}  // namespace

void encode_unit(TimeUnit unit, ByteWriter& out) { out.u8(static_cast<std::uint8_t>(unit)); }

TimeUnit decode_unit(ByteReader& in, bool has_clock) {
  const auto unit = static_cast<TimeUnit>(in.u8());
  if (unit > TimeUnit::kTicks) throw Malformed("times are of an unknown unit");
  if (unit == TimeUnit::kTicks && !has_clock) throw Malformed("ticks come before their clock");
  return unit;
}

PieceExtent decode_extent(ByteReader& in) {
  const auto track = static_cast<TrackId>(in.number_below(std::numeric_limits<TrackId>::max(), "a track"));
  const std::uint64_t first_ordinal = in.number_below(kMaxOrdinal, "an ordinal");
  decode_unit(in, true);
  return {track, first_ordinal + in.number_below(kMaxPieceEvents + 1, "the number of events")};
}

Piece make_piece(const Recording& recording, TrackId track, std::uint64_t first_ordinal, std::size_t first, std::size_t last) {
  Piece piece{.track = track,
              .first_ordinal = first_ordinal,
              .unit = TimeUnit::kNanoseconds,
              .events = {},
              .first_event = static_cast<EventIndex>(first),
              .inputs = {recording.inputs, first, last},
              .attributes = {recording.attributes, first, last},
              .stacks = {recording.stacks.of_event, first, last}};
  EventColumns::for_each([&](auto& rows, const auto& column) { rows = std::span(column).subspan(first, last - first); }, piece.events,
                         recording.events);
  return piece;
}

void PieceCodec::encode(const Piece& piece, KnownIds known, ByteWriter& out) {
  check(piece, known);
  out.number(piece.track);
  out.number(piece.first_ordinal);
  encode_unit(piece.unit, out);
  out.number(piece.size());
  columns_.encode(piece.events.kind, out);
  columns_.encode(piece.events.flags, out);
  columns_.encode_devices(piece.events.device, out);
  columns_.encode(piece.events.name, out);
  encode_links(piece, out);
  columns_.encode_deltas(piece.events.start_ns, out);
  columns_.encode(piece.events.duration_ns, out);
  encode_rows(piece.inputs, piece.first_event, piece.size(), known, columns_, out);
  encode_rows(piece.attributes, piece.first_event, piece.size(), known, columns_, out);
  encode_rows(piece.stacks, piece.first_event, piece.size(), known, columns_, out);
}

void PieceCodec::encode_links(const Piece& piece, ByteWriter& out) {
  LastLinks last{};
  bool ambiguous = false;  // the one difference whose code wraps to that of "none"
  std::vector<std::int64_t> codes(piece.size());
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const std::uint64_t link = piece.events.link[i];
    if (link == 0) continue;
    std::uint64_t& before = last[static_cast<std::uint8_t>(piece.events.kind[i])];
    codes[i] = static_cast<std::int64_t>(zigzag(static_cast<std::int64_t>(link - before)) + 1);
    ambiguous |= codes[i] == 0;
    before = link;
  }
  out.u8(static_cast<std::uint8_t>(ambiguous ? LinkCode::kPlain : LinkCode::kByKind));
  ambiguous ? columns_.encode(piece.events.link, out) : out.column(codes);
}

PieceRows PieceCodec::decode(ByteReader& in, PieceContext context, Recording& into) {
  PieceRows rows{.first_row = into.events.size()};
  rows.track = static_cast<TrackId>(in.number_below(into.tracks.size(), "a track"));
  rows.first_ordinal = in.number_below(kMaxOrdinal, "an ordinal");
  rows.unit = decode_unit(in, context.has_clock);
  rows.rows = in.number_below(kMaxPieceEvents + 1, "the number of events");
  if (rows.first_row + rows.rows > std::numeric_limits<EventIndex>::max()) throw Malformed("there are more events than can be numbered");

  count_rows<EventColumns>(in, rows.rows);
  try {
    into.events.resize(rows.first_row + rows.rows);
    decode_columns(in, rows, context.newer_minor, into);
    decode_side_rows(in, rows, into);
  } catch (const Malformed&) {
    into.events.resize(rows.first_row);
    throw;
  }
  return rows;
}

void PieceCodec::decode_side_rows(ByteReader& in, const PieceRows& rows, Recording& into) {
  const std::size_t inputs = into.inputs.events.size(), attributes = into.attributes.events.size(),
                    stacks = into.stacks.of_event.events.size();
  const auto first = static_cast<EventIndex>(rows.first_row);
  const KnownIds known{into.names.size(), into.stacks.size()};
  try {
    decode_rows(in, columns_, first, rows.rows, known, into.inputs);
    decode_rows(in, columns_, first, rows.rows, known, into.attributes);
    decode_rows(in, columns_, first, rows.rows, known, into.stacks.of_event);
  } catch (const Malformed&) {
    cut(into.inputs, inputs);
    cut(into.attributes, attributes);
    cut(into.stacks.of_event, stacks);
    throw;
  }
}

void PieceCodec::encode_late(const LatePiece& late, KnownIds known, ByteWriter& out) {
  out.number(late.piece);
  encode_rows(late.inputs, late.first_event, late.events, known, columns_, out);
  encode_rows(late.attributes, late.first_event, late.events, known, columns_, out);
  encode_rows(late.stacks, late.first_event, late.events, known, columns_, out);
}

void PieceCodec::decode_late(ByteReader& in, std::span<const PieceRows> pieces, Recording& into) {
  decode_side_rows(in, pieces[in.number_below(pieces.size(), "a piece")], into);
}

void PieceCodec::decode_columns(ByteReader& in, const PieceRows& rows, bool newer_minor, Recording& into) {
  const auto added = [&](auto& column) { return std::span(column).subspan(rows.first_row, rows.rows); };
  EventColumns& events = into.events;
  columns_.decode_below(newer_minor ? 256 : kEventKinds, "a kind", added(events.kind), in);
  columns_.decode_below(256, "flags", added(events.flags), in);
  columns_.decode_devices(added(events.device), in);
  columns_.decode_below(into.names.size(), "a name", added(events.name), in);
  decode_links(in, added(events.kind), added(events.link));
  columns_.decode_deltas(added(events.start_ns), in);
  columns_.decode(added(events.duration_ns), in);
  if (!durations_fit(added(events.start_ns), added(events.duration_ns), rows.unit)) throw Malformed("an event ends before it starts");
  if (!newer_minor) return;
  const bool on_device = into.tracks[rows.track].kind == Track::Kind::kStream;
  for (EventKind& kind : added(events.kind)) {
    if (static_cast<int>(kind) >= kEventKinds) kind = on_device ? EventKind::kDeviceScope : EventKind::kScope;
  }
}

void PieceCodec::decode_links(ByteReader& in, std::span<const EventKind> kinds, std::span<std::uint64_t> links) {
  const auto code = static_cast<LinkCode>(in.u8());
  columns_.decode(links, in);
  if (code == LinkCode::kPlain) return;
  if (code != LinkCode::kByKind) throw Malformed("links are in an unknown code");
  LastLinks last{};
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (links[i] == 0) continue;
    std::uint64_t& before = last[static_cast<std::uint8_t>(kinds[i])];
    links[i] = before += static_cast<std::uint64_t>(unzigzag(links[i] - 1));
  }
}

void PieceCodec::encode_memory(const MemoryColumns& memory, std::size_t first, std::size_t count, ByteWriter& out) {
  const auto rows = [&](const auto& column) { return std::span(column).subspan(first, count); };
  out.number(count);
  columns_.encode_deltas(rows(memory.time_ns), out);
  columns_.encode(rows(memory.track), out);
  columns_.encode_deltas(rows(memory.address), out);
  columns_.encode(rows(memory.bytes), out);
  columns_.encode_devices(rows(memory.device), out);
  columns_.encode_deltas(rows(memory.total_allocated), out);
  columns_.encode_deltas(rows(memory.total_reserved), out);
}

void PieceCodec::decode_memory(ByteReader& in, Recording& into) {
  const std::size_t first = into.memory.size();
  const std::size_t count = in.number_below(kMaxPieceEvents + 1, "the number of memory events");
  count_rows<MemoryColumns>(in, count);
  try {
    into.memory.resize(first + count);
    decode_memory_columns(in, first, count, into);
  } catch (const Malformed&) {
    into.memory.resize(first);
    throw;
  }
}

void PieceCodec::decode_memory_columns(ByteReader& in, std::size_t first, std::size_t count, Recording& into) {
  const auto added = [&](auto& column) { return std::span(column).subspan(first, count); };
  MemoryColumns& memory = into.memory;
  columns_.decode_deltas(added(memory.time_ns), in);
  columns_.decode_below(into.tracks.size(), "a track", added(memory.track), in);
  columns_.decode_deltas(added(memory.address), in);
  columns_.decode(added(memory.bytes), in);
  columns_.decode_devices(added(memory.device), in);
  columns_.decode_deltas(added(memory.total_allocated), in);
  columns_.decode_deltas(added(memory.total_reserved), in);
}

void PieceCodec::encode_samples(const SampleColumns& samples, std::size_t first, std::size_t count, ByteWriter& out) {
  const auto rows = [&](const auto& column) { return std::span(column).subspan(first, count); };
  out.number(count);
  columns_.encode_deltas(rows(samples.time_ns), out);
  columns_.encode(rows(samples.duration_ns), out);
  columns_.encode(rows(samples.track), out);
  columns_.encode(rows(samples.stack), out);
  columns_.encode(rows(samples.state), out);
}

void PieceCodec::decode_samples(ByteReader& in, PieceContext context, Recording& into) {
  const std::size_t first = into.samples.size();
  const std::size_t count = in.number_below(kMaxPieceEvents + 1, "the number of samples");
  count_rows<SampleColumns>(in, count);
  try {
    into.samples.resize(first + count);
    decode_sample_columns(in, first, count, context.newer_minor, into);
  } catch (const Malformed&) {
    into.samples.resize(first);
    throw;
  }
}

void PieceCodec::decode_sample_columns(ByteReader& in, std::size_t first, std::size_t count, bool newer_minor, Recording& into) {
  const auto added = [&](auto& column) { return std::span(column).subspan(first, count); };
  SampleColumns& samples = into.samples;
  columns_.decode_deltas(added(samples.time_ns), in);
  columns_.decode(added(samples.duration_ns), in);
  columns_.decode_below(into.tracks.size(), "a track", added(samples.track), in);
  columns_.decode_below(into.stacks.size(), "a stack", added(samples.stack), in);
  columns_.decode_below(newer_minor ? 256 : kThreadStates, "a state", added(samples.state), in);
  if (std::ranges::any_of(added(samples.duration_ns), [](std::int64_t duration) { return duration < 0; }) ||
      !durations_fit(added(samples.time_ns), added(samples.duration_ns), TimeUnit::kNanoseconds))
    throw Malformed("a sample ends before it starts");
  for (ThreadState& state : added(samples.state))
    if (static_cast<int>(state) >= kThreadStates) state = ThreadState::kUnknown;
}

}  // namespace mindtorch::trace
