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
template <class Table>
std::size_t first_row(const Table& table, std::size_t event) {
  return static_cast<std::size_t>(std::ranges::lower_bound(table.events, event) - table.events.begin());
}

// Rows of a side table or of a shared table, not owned.
template <class T>
struct SideRows {
  std::span<const EventIndex> events;
  std::span<const std::uint32_t> shared;  // of a shared table; empty otherwise
  std::span<const std::uint64_t> offsets;
  std::span<const T> values;

  SideRows() = default;
  SideRows(const SideTable<T>& table) : events(table.events), offsets(table.offsets), values(table.values) {}  // NOLINT: a view, like span
  SideRows(const SharedTable<T>& table)                                                                        // NOLINT: the same
      : events(table.events), shared(table.shared), offsets(table.offsets), values(table.values) {}
  // Those of events [first, last).
  SideRows(const SideTable<T>& table, std::size_t first, std::size_t last) : SideRows(table) {
    const std::size_t begin = first_row(table, first), end = first_row(table, last);
    events = events.subspan(begin, end - begin);
    offsets = offsets.subspan(begin, end - begin + 1);
  }
  SideRows(const SharedTable<T>& table, std::size_t first, std::size_t last) : SideRows(table) {
    const std::size_t begin = first_row(table, first), end = first_row(table, last);
    events = events.subspan(begin, end - begin);
    shared = shared.subspan(begin, end - begin);
  }
  std::span<const T> row(std::size_t k) const {
    const std::size_t at = shared.empty() ? k : shared[k];
    return values.subspan(offsets[at], offsets[at + 1] - offsets[at]);
  }
  // Of all rows together.
  std::uint64_t value_count() const {
    if (shared.empty()) return events.empty() ? 0 : offsets[events.size()] - offsets[0];
    std::uint64_t count = 0;
    for (std::size_t k = 0; k < events.size(); ++k) count += row(k).size();
    return count;
  }
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
template <class Table>
void decode_rows(ByteReader& in, ColumnCodec& columns, EventIndex first_event, std::size_t events, KnownIds known, Table& table);

}  // namespace mindtorch::trace
