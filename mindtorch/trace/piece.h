// Piece: a run of events of one track that one chunk contains, and how it is packed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mindtorch/trace/column_codec.h"
#include "mindtorch/trace/recording.h"
#include "mindtorch/trace/side_rows.h"

namespace mindtorch::trace {

// The unit of the times in a piece. save() writes nanoseconds; a spilling session writes ticks, which the reader converts.
enum class TimeUnit : std::uint8_t { kNanoseconds = 0, kTicks = 1 };
void encode_unit(TimeUnit unit, ByteWriter& out);
TimeUnit decode_unit(ByteReader& in, bool has_clock);  // Malformed if they are ticks and there is no clock to map them

// The duration of an event that was open when its piece was written. A PatchedEnd may close it later.
inline constexpr std::int64_t kStillOpen = -1;

// The largest number of events in a piece, which a reader must be able to handle.
inline constexpr std::size_t kMaxPieceEvents = std::size_t{1} << 20;

template <class T>
using ConstSpan = std::span<const T>;

// A view of some events, whose columns are of equal length. Starts are in order; ticks are unsigned numbers of the same bits. The duration
// is kStillOpen if the event has no end yet (kTicks).
struct Piece {
  TrackId track = 0;
  std::uint64_t first_ordinal = 0;  // position of the first event in its track, counted over the whole recording
  TimeUnit unit = TimeUnit::kNanoseconds;
  EventFields<ConstSpan> events;
  EventIndex first_event = 0;  // side rows count from here: a row of event k belongs to event k - first_event of the piece
  SideRows<std::int64_t> inputs;
  SideRows<Attribute> attributes;
  SideRows<StackId> stacks;

  std::size_t size() const { return events.start_ns.size(); }
};

// Side rows that came after the piece with their events was written.
struct LatePiece {
  std::size_t piece = 0;       // its number among the pieces of the file
  EventIndex first_event = 0;  // side rows count from here
  std::size_t events = 0;      // of the piece
  SideRows<std::int64_t> inputs;
  SideRows<Attribute> attributes;
  SideRows<StackId> stacks;
  bool empty() const { return inputs.events.empty() && attributes.events.empty() && stacks.events.empty(); }
};

// Events [first, last) of a recording, which lie on one track, with their side rows. Their times are nanoseconds.
Piece make_piece(const Recording& recording, TrackId track, std::uint64_t first_ordinal, std::size_t first, std::size_t last);

// The position of a piece that was read: rows [first_row, first_row + rows) of the columns.
struct PieceRows {
  TrackId track = 0;
  std::uint64_t first_ordinal = 0;
  TimeUnit unit = TimeUnit::kNanoseconds;
  std::size_t first_row = 0;
  std::size_t rows = 0;
};

// The number of events that a track has at the end of a packed piece. Readers use it if they cannot decode the piece.
struct PieceExtent {
  TrackId track = 0;
  std::uint64_t events = 0;
};
PieceExtent decode_extent(ByteReader& in);  // throws Malformed

// The state of a reader besides the part of the Recording that it has read.
struct PieceContext {
  bool has_clock = false;    // ticks can be mapped
  bool newer_minor = false;  // kinds we do not know are read as scopes
};

// Packs and unpacks pieces. It keeps its work space, so use one object for many pieces.
class PieceCodec {
 public:
  // Throws InvalidArgument if the piece is too large or inconsistent, or if it refers to unknown names, tracks or stacks.
  void encode(const Piece& piece, KnownIds known, ByteWriter& out);
  // Appends the piece to the columns and side tables of `into`, whose names, tracks and stacks it refers to. Times and open durations stay
  // as they are in the file. Throws Malformed, and then leaves `into` unchanged.
  PieceRows decode(ByteReader& in, PieceContext context, Recording& into);

  void encode_late(const LatePiece& late, KnownIds known, ByteWriter& out);
  // Appends the rows to the side tables of `into`, out of the order of events. Throws Malformed, and then leaves `into` unchanged.
  void decode_late(ByteReader& in, std::span<const PieceRows> pieces, Recording& into);

  // Rows [first, first + count) of memory events.
  void encode_memory(const MemoryColumns& memory, std::size_t first, std::size_t count, ByteWriter& out);
  // Appends to into.memory; Malformed leaves it unchanged.
  void decode_memory(ByteReader& in, Recording& into);

  // Rows [first, first + count) of samples.
  void encode_samples(const SampleColumns& samples, std::size_t first, std::size_t count, ByteWriter& out);
  // Appends to into.samples; Malformed leaves it unchanged.
  void decode_samples(ByteReader& in, PieceContext context, Recording& into);

 private:
  void encode_links(const Piece& piece, ByteWriter& out);
  void decode_links(ByteReader& in, std::span<const EventKind> kinds, std::span<std::uint64_t> links);
  void decode_columns(ByteReader& in, const PieceRows& rows, bool newer_minor, Recording& into);
  void decode_side_rows(ByteReader& in, const PieceRows& rows, Recording& into);
  void decode_memory_columns(ByteReader& in, std::size_t first, std::size_t count, Recording& into);
  void decode_sample_columns(ByteReader& in, std::size_t first, std::size_t count, bool newer_minor, Recording& into);

  ColumnCodec columns_;
};

}  // namespace mindtorch::trace
