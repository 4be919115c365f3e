// Rows of a side table in a file. Each distinct row is stored once, because most ops have the same arguments in every step.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "mindtorch/trace/column_codec.h"
#include "mindtorch/trace/recording.h"

namespace mindtorch::trace {

// The largest number of values of one side table in a piece, which a reader must be able to handle.
inline constexpr std::size_t kMaxPieceValues = std::size_t{1} << 25;

// The first row that is of `event` or a later one. O(log rows).
template <class T>
std::size_t first_row(const SideTable<T>& table, std::size_t event) {
  return static_cast<std::size_t>(std::ranges::lower_bound(table.events, event) - table.events.begin());
}

// Rows of a side table, not owned.
template <class T>
struct SideRows {
  std::span<const EventIndex> events;
  std::span<const std::uint64_t> offsets;  // one more than events: values of events[k] are values[offsets[k] .. offsets[k+1])
  std::span<const T> values;

  SideRows() = default;
  SideRows(const SideTable<T>& table) : events(table.events), offsets(table.offsets), values(table.values) {}  // NOLINT: a view, like span
  // Those of events [first, last).
  SideRows(const SideTable<T>& table, std::size_t first, std::size_t last) : SideRows(table) {
    const std::size_t begin = first_row(table, first), end = first_row(table, last);
    events = events.subspan(begin, end - begin);
    offsets = offsets.subspan(begin, end - begin + 1);
  }
  std::span<const T> row(std::size_t k) const { return values.subspan(offsets[k], offsets[k + 1] - offsets[k]); }
  std::uint64_t value_count() const { return events.empty() ? 0 : offsets[events.size()] - offsets[0]; }  // of all rows together
};

// The number of known names, tracks and stacks. All ids must be below it.
struct KnownIds {
  std::size_t names = 0;
  std::size_t stacks = 0;
};

// The rows of `events` events from first_event on; a row of event k is written as one of event k - first_event. Throws InvalidArgument if a
// row belongs to another event or refers to an unknown id, or if there are more than kMaxPieceValues values.
template <class T>
void encode_rows(const SideRows<T>& rows, EventIndex first_event, std::size_t events, KnownIds known, ColumnCodec& columns,
                 ByteWriter& out);

// Appends rows to `table`, one of event e as one of event first_event + e. Throws Malformed in the same cases; the table may then hold part
// of the rows.
template <class T>
void decode_rows(ByteReader& in, ColumnCodec& columns, EventIndex first_event, std::size_t events, KnownIds known, SideTable<T>& table);

}  // namespace mindtorch::trace
