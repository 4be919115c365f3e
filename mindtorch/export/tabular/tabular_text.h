// Columns of values, the values as JSON and as CSV, and text handed on in pieces.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "mindtorch/base/export.h"

namespace mindtorch::exporter {

// Written as an exact decimal number of microseconds.
struct Time {
  std::int64_t ns;
};
// Text that is JSON already; in CSV it is one field.
struct Json {
  std::string text;
};
// std::monostate: nothing was recorded. A string_view refers to a text that outlives the value.
using Value = std::variant<std::monostate, std::int64_t, double, bool, Time, std::string, std::string_view, Json>;

// What the values of a column are, apart from std::monostate. Times are real numbers; JSON is text.
enum class ColumnType : std::uint8_t { kInteger, kReal, kBool, kText };

MINDTORCH_EXPORT void append_json(std::string& out, const Value& value);
MINDTORCH_EXPORT void append_csv(std::string& out, const Value& value);

// A text in CSV gets ' in front of what a spreadsheet would take for a formula. While an object of this class lives, its thread writes
// every text as it is, and an empty one in quotes, which tell it apart from none.
class PlainCsv {
 public:
  PlainCsv() noexcept;
  ~PlainCsv();
  PlainCsv(const PlainCsv&) = delete;
  PlainCsv& operator=(const PlainCsv&) = delete;
};

template <class Row>
struct TabularColumn {
  std::string_view name;
  ColumnType type;
  Value (*read)(const Row&);
};

// {"name":value,...}, without the values that are nothing.
template <class Row>
void append_object(std::string& out, std::span<const TabularColumn<Row>> columns, const Row& row) {
  char separator = '{';
  for (const TabularColumn<Row>& column : columns) {
    const Value value = column.read(row);
    if (std::holds_alternative<std::monostate>(value)) continue;
    out.push_back(separator);
    separator = ',';
    out.append("\"").append(column.name).append("\":");
    append_json(out, value);
  }
  out += separator == '{' ? "{}" : "}";
}

// The names of the columns, and one line of values below them. Lines end as RFC 4180 wants.
template <class Row>
void append_names(std::string& out, std::span<const TabularColumn<Row>> columns) {
  for (const TabularColumn<Row>& column : columns) out.append(&column == columns.data() ? "" : ",").append(column.name);
  out += "\r\n";
}
template <class Row>
void append_values(std::string& out, std::span<const TabularColumn<Row>> columns, const Row& row) {
  for (const TabularColumn<Row>& column : columns) {
    if (&column != columns.data()) out.push_back(',');
    append_csv(out, column.read(row));
  }
  out += "\r\n";
}

// Gathers text and hands it on in pieces; the last one goes with flush().
class PieceWriter {
 public:
  explicit PieceWriter(const std::function<void(std::string_view)>& sink) : sink_(sink) {}

  // Where to append next.
  std::string& text() {
    if (piece_.size() >= kPiece) flush();
    return piece_;
  }
  void flush() {
    sink_(piece_);
    piece_.clear();
  }

 private:
  static constexpr std::size_t kPiece = 1 << 16;
  const std::function<void(std::string_view)>& sink_;
  std::string piece_;
};

}  // namespace mindtorch::exporter
