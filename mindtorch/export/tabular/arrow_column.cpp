// ArrowColumn: values appended to Arrow's buffers.
#include <limits>

#include "mindtorch/base/error.h"
#include "mindtorch/base/text.h"
#include "mindtorch/export/tabular/arrow_table.h"

namespace mindtorch::exporter {
namespace {

void append_bit(std::vector<std::uint8_t>& bits, std::size_t at, bool bit) {
  if (at % 8 == 0) bits.push_back(0);
  if (bit) bits.back() = static_cast<std::uint8_t>(bits.back() | 1U << at % 8);
}

double real_of(const Value& value) {
  if (const auto* time = std::get_if<Time>(&value)) return static_cast<double>(time->ns) / 1000.0;
  return std::get<double>(value);
}

std::string_view text_of(const Value& value) {
  if (const auto* view = std::get_if<std::string_view>(&value)) return *view;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return std::get<Json>(value).text;
}

}  // namespace

void ArrowColumn::add(const Value& value) {
  const bool is_null = std::holds_alternative<std::monostate>(value);
  append_bit(validity_, size_, !is_null);
  null_count_ += is_null ? 1 : 0;
  switch (type_) {
    case ColumnType::kInteger: integers_.push_back(is_null ? 0 : std::get<std::int64_t>(value)); break;
    case ColumnType::kReal: reals_.push_back(is_null ? 0 : real_of(value)); break;
    case ColumnType::kBool: append_bit(bits_, size_, !is_null && std::get<bool>(value)); break;
    case ColumnType::kText: texts_.push_back(is_null ? 0 : text_number(text_of(value))); break;
  }
  ++size_;
}

std::int32_t ArrowColumn::text_number(std::string_view text) {
  const auto known = number_of_text_.find(text);
  if (known != number_of_text_.end()) return known->second;
  const auto number = static_cast<std::int32_t>(number_of_text_.size());
  text_bytes_ += valid_utf8(text);
  if (text_bytes_.size() > std::numeric_limits<std::int32_t>::max())
    throw_error<InvalidArgument>("export.arrow", "the distinct texts of the column '{}' exceed 2 GiB", name_);
  text_offsets_.push_back(static_cast<std::int32_t>(text_bytes_.size()));
  number_of_text_.emplace(text, number);
  return number;
}

const char* ArrowColumn::format() const {
  switch (type_) {
    case ColumnType::kInteger: return "l";
    case ColumnType::kReal: return "g";
    case ColumnType::kBool: return "b";
    case ColumnType::kText: break;
  }
  return "i";  // the type of the numbers of texts
}

const void* ArrowColumn::values() const {
  switch (type_) {
    case ColumnType::kInteger: return integers_.data();
    case ColumnType::kReal: return reals_.data();
    case ColumnType::kBool: return bits_.data();
    case ColumnType::kText: break;
  }
  return texts_.data();
}

}  // namespace mindtorch::exporter
