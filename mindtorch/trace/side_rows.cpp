// Rows of a side table in a file.
//
// The number of rows, and if there are any: the distinct rows, each {length, values}; a column of gaps between their events; a column of
// row codes. A row code is 0 for the next distinct row, or how far back among the distinct rows met so far it lies: where all rows differ,
// all codes are 0.
#include "mindtorch/trace/side_rows.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/trace/inputs.h"
#include "mindtorch/trace/interning.h"

namespace mindtorch::trace {
namespace {

template <class T>
std::uint64_t hash_of(std::span<const T> row) {
  return XXH3_64bits(row.data(), row.size_bytes());
}
// By field, as an Attribute has padding.
template <>
std::uint64_t hash_of(std::span<const Attribute> row) {
  std::uint64_t hash = 0;
  for (const Attribute& a : row) {
    const std::array<std::uint64_t, 2> words = {a.key | static_cast<std::uint64_t>(a.type) << 32, static_cast<std::uint64_t>(a.bits)};
    hash = XXH3_64bits_withSeed(words.data(), sizeof words, hash);
  }
  return hash;
}

void encode_value(std::int64_t word, ByteWriter& out) { out.signed_number(word); }
void encode_value(StackId stack, ByteWriter& out) { out.number(stack); }
void encode_value(const Attribute& attribute, ByteWriter& out) {
  out.number(attribute.key);
  out.u8(static_cast<std::uint8_t>(attribute.type));
  out.signed_number(attribute.bits);
}

void decode_value(ByteReader& in, std::int64_t& word) { word = in.signed_number(); }
void decode_value(ByteReader& in, StackId& stack) { stack = static_cast<StackId>(in.number_below(std::uint64_t{1} << 32, "a stack")); }
void decode_value(ByteReader& in, Attribute& attribute) {
  attribute.key = static_cast<NameId>(in.number_below(std::uint64_t{1} << 32, "the key of an attribute"));
  attribute.type = static_cast<Attribute::Type>(in.u8());
  attribute.bits = in.signed_number();
}

// Describes what is wrong with a row; empty if nothing is.
std::string_view fault_of(std::span<const std::int64_t> row, KnownIds known) { return check_inputs(row, known.names); }
std::string_view fault_of(std::span<const StackId> row, KnownIds known) {
  if (row.size() != 1) return "an event has more or less than one stack";
  return row[0] < known.stacks ? "" : "a stack does not exist";
}
std::string_view fault_of(std::span<const Attribute> row, KnownIds known) {
  for (const Attribute& a : row) {
    if (a.type > Attribute::Type::kBool) return "an attribute is of unknown type";
    if (a.key >= known.names) return "the key of an attribute has no name";
    const bool text = a.type == Attribute::Type::kText || a.type == Attribute::Type::kJson;
    if (text && static_cast<std::uint64_t>(a.bits) >= known.names) return "the text of an attribute has no name";
  }
  return "";
}

// The distinct rows of a piece.
template <class T>
struct Dictionary {
  std::vector<T> values;
  std::vector<std::size_t> offsets{0};

  Dictionary(ByteReader& in, KnownIds known) {
    const std::size_t rows = in.count();
    for (std::size_t r = 0; r < rows; ++r) {
      const std::size_t first = offsets.back();
      const std::size_t length = in.count();
      in.room_for<T>(length);
      in.room_for<std::size_t>(1);
      values.resize(first + length);
      for (std::size_t i = first; i < values.size(); ++i) decode_value(in, values[i]);
      const std::string_view fault = fault_of(std::span<const T>(values).subspan(first), known);
      if (!fault.empty()) throw Malformed(fmt::format("side data is malformed: {}", fault));
      offsets.push_back(values.size());
    }
  }
  std::size_t size() const { return offsets.size() - 1; }
  std::span<const T> row(std::size_t k) const { return std::span(values).subspan(offsets[k], offsets[k + 1] - offsets[k]); }
};

// What a row takes besides its values: event, offset, code.
struct SideRowRoom {
  std::array<std::uint64_t, 3> words;
};

// Row codes become indices of distinct rows.
template <class T>
std::vector<std::uint32_t> resolve(std::span<const std::int64_t> codes, const Dictionary<T>& dictionary) {
  std::vector<std::uint32_t> rows(codes.size());
  std::size_t met = 0, values = 0;
  for (std::size_t k = 0; k < codes.size(); ++k) {
    const auto code = static_cast<std::uint64_t>(codes[k]);
    if (code > met || (code == 0 && met == dictionary.size())) throw Malformed("a row does not exist");
    const std::size_t row = code == 0 ? met++ : met - code;
    rows[k] = static_cast<std::uint32_t>(row);
    values += dictionary.row(row).size();
    if (values > kMaxPieceValues) throw Malformed("there are more values than a piece may have");
  }
  return rows;
}

// Appends the rows of a piece, without their events.
template <class T>
void append_rows(ByteReader& in, const Dictionary<T>& dictionary, std::span<const std::uint32_t> distinct_rows, SideTable<T>& table) {
  std::size_t values = 0;
  for (const std::uint32_t row : distinct_rows) values += dictionary.row(row).size();
  in.room_for<T>(values);
  for (const std::uint32_t row : distinct_rows) {
    table.values.insert(table.values.end(), dictionary.row(row).begin(), dictionary.row(row).end());
    table.offsets.push_back(table.values.size());
  }
}
template <class T>
void append_rows(ByteReader& in, const Dictionary<T>& dictionary, std::span<const std::uint32_t> distinct_rows, SharedTable<T>& table) {
  in.room_for<T>(dictionary.values.size());
  const std::size_t first = table.shared_rows();
  for (std::size_t row = 0; row < dictionary.size(); ++row) table.add_shared_row(dictionary.row(row));
  for (const std::uint32_t row : distinct_rows) table.shared.push_back(static_cast<std::uint32_t>(first + row));
}

}  // namespace

template <class T>
void encode_rows(const SideRows<T>& rows, EventIndex first_event, std::size_t events, KnownIds known, ColumnCodec& columns,
                 ByteWriter& out) {
  if (rows.value_count() > kMaxPieceValues) {
    throw_error<InvalidArgument>("trace.save", "a piece has {} values of side data, the limit is {}", rows.value_count(), kMaxPieceValues);
  }
  out.number(rows.events.size());
  if (rows.events.empty()) return;
  IdTable ids;
  std::vector<std::size_t> distinct;  // the first row like it
  std::vector<std::int64_t> codes(rows.events.size());
  for (std::size_t k = 0; k < codes.size(); ++k) {
    const std::span<const T> row = rows.row(k);
    const std::size_t met = distinct.size();
    const std::uint32_t id = ids.find_or_add(
        hash_of(row), [&](std::uint32_t other) { return std::ranges::equal(rows.row(distinct[other]), row); },
        [&] {
          distinct.push_back(k);
          return static_cast<std::uint32_t>(met);
        });
    codes[k] = static_cast<std::int64_t>(met - id);
  }
  if (rows.events.front() < first_event || rows.events.back() - first_event >= events) {
    throw_error<InvalidArgument>("trace.save", "side data of events {} to {} is in a piece of other events", rows.events.front(),
                                 rows.events.back());
  }
  out.number(distinct.size());
  for (const std::size_t k : distinct) {
    const std::string_view fault = fault_of(rows.row(k), known);
    if (!fault.empty()) throw_error<InvalidArgument>("trace.save", "side data of event {} is malformed: {}", rows.events[k], fault);
    out.number(rows.row(k).size());
    for (const T& value : rows.row(k)) encode_value(value, out);
  }
  columns.encode_with(codes.size(), out,
                      [&](std::size_t k) { return std::int64_t{rows.events[k]} - (k == 0 ? first_event : rows.events[k - 1] + 1); });
  out.column(codes);
}

template <class Table>
void decode_rows(ByteReader& in, ColumnCodec& columns, EventIndex first_event, std::size_t events, KnownIds known, Table& table) {
  const std::size_t count = in.number_below(events + 1, "the number of rows");
  if (count == 0) return;
  const Dictionary<typename Table::Value> dictionary(in, known);
  std::size_t event = 0;
  for (const std::int64_t gap : columns.decode(count, in)) {
    if (static_cast<std::uint64_t>(gap) >= events - event) throw Malformed("a row belongs to no event");
    event += static_cast<std::size_t>(gap);
    table.events.push_back(first_event + static_cast<EventIndex>(event++));
  }
  in.room_for<SideRowRoom>(count);
  append_rows(in, dictionary, resolve(columns.decode(count, in), dictionary), table);
}

template void encode_rows(const SideRows<std::int64_t>&, EventIndex, std::size_t, KnownIds, ColumnCodec&, ByteWriter&);
template void encode_rows(const SideRows<Attribute>&, EventIndex, std::size_t, KnownIds, ColumnCodec&, ByteWriter&);
template void encode_rows(const SideRows<StackId>&, EventIndex, std::size_t, KnownIds, ColumnCodec&, ByteWriter&);
template void decode_rows(ByteReader&, ColumnCodec&, EventIndex, std::size_t, KnownIds, SideTable<std::int64_t>&);
template void decode_rows(ByteReader&, ColumnCodec&, EventIndex, std::size_t, KnownIds, SharedTable<Attribute>&);
template void decode_rows(ByteReader&, ColumnCodec&, EventIndex, std::size_t, KnownIds, SideTable<StackId>&);

}  // namespace mindtorch::trace
