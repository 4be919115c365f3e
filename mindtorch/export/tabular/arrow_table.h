// ArrowTable: columns in Arrow's layout, filled row by row and handed over without a copy.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mindtorch/export/tabular/arrow_abi.h"
#include "mindtorch/export/tabular/tabular_text.h"

namespace mindtorch::exporter {

// A column of one type. Texts are numbers of a list of distinct texts (Arrow's dictionaries): most texts of events repeat.
class ArrowColumn {
 public:
  ArrowColumn(std::string_view name, ColumnType type) : name_(name), type_(type) {}

  // Nothing, or a value of the column's type.
  void add(const Value& value);

  const std::string& name() const { return name_; }
  const char* format() const;
  bool is_text() const { return type_ == ColumnType::kText; }
  std::int64_t null_count() const { return null_count_; }
  // A bit for each row that has a value; null if all rows have one.
  const void* validity() const { return null_count_ == 0 ? nullptr : validity_.data(); }
  const void* values() const;

  // The distinct texts, as one array of bytes and the offset of each.
  const std::vector<std::int32_t>& text_offsets() const { return text_offsets_; }
  const void* text_bytes() const { return text_bytes_.data(); }

 private:
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the name is the standard's
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  std::int32_t text_number(std::string_view text);

  std::string name_;
  ColumnType type_;
  std::size_t size_ = 0;
  std::int64_t null_count_ = 0;
  std::vector<std::uint8_t> validity_;
  std::vector<std::int64_t> integers_;
  std::vector<double> reals_;
  std::vector<std::uint8_t> bits_;
  std::vector<std::int32_t> texts_;  // numbers
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> number_of_text_;
  std::vector<std::int32_t> text_offsets_{0};
  std::string text_bytes_;
};

struct ArrowTable {
  std::vector<ArrowColumn> columns;
  std::int64_t rows = 0;
};

// Reads all rows into a table. O(rows * columns).
template <class Row, class RowAt>
std::shared_ptr<const ArrowTable> make_arrow_table(std::span<const TabularColumn<Row>> columns, std::size_t rows, RowAt row_at) {
  auto table = std::make_shared<ArrowTable>();
  table->rows = static_cast<std::int64_t>(rows);
  for (const TabularColumn<Row>& column : columns) table->columns.emplace_back(column.name, column.type);
  for (std::size_t i = 0; i < rows; ++i) {
    const Row& row = row_at(i);  // a value that row_at() returns lives as long as the reference
    for (std::size_t k = 0; k < columns.size(); ++k) table->columns[k].add(columns[k].read(row));
  }
  return table;
}

// Fills `out` with a stream that hands over the table as one array. The table lives as long as any struct that the consumer holds.
void open_arrow_stream(std::shared_ptr<const ArrowTable> table, ArrowArrayStream* out);

}  // namespace mindtorch::exporter
