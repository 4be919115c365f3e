// Arrow's structs: what a consumer reads from them, and that each lives as long as it is held.
#include "mindtorch/export/tabular/arrow_table.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

namespace mindtorch::exporter {
namespace {

struct Row {
  std::int64_t number;
  std::string text;
};

constexpr auto kColumns = std::to_array<TabularColumn<Row>>({
    {"number", ColumnType::kInteger, [](const Row& r) -> Value { return r.number; }},
    {"maybe", ColumnType::kInteger, [](const Row& r) -> Value { return r.number > 1 ? Value(r.number) : Value(); }},
    {"time", ColumnType::kReal, [](const Row& r) -> Value { return Time{r.number * 500}; }},
    {"odd", ColumnType::kBool, [](const Row& r) -> Value { return r.number % 2 == 1; }},
    {"text", ColumnType::kText, [](const Row& r) -> Value { return std::string_view(r.text); }},
    {"json", ColumnType::kText, [](const Row& r) -> Value { return Json{"[" + r.text + "]"}; }},
});
constexpr std::span<const TabularColumn<Row>> kSpan(kColumns);

class ArrowTableTest : public testing::Test {
 protected:
  ArrowTableTest() {
    const std::vector<Row> rows = {{1, "a"}, {2, "b\xFF"}, {3, "a"}};
    auto table = make_arrow_table(kSpan, rows.size(), [&](std::size_t i) -> const Row& { return rows[i]; });
    table_ = table;
    open_arrow_stream(std::move(table), &stream_);
    EXPECT_EQ(stream_.get_schema(&stream_, &schema_), 0);
    EXPECT_EQ(stream_.get_next(&stream_, &array_), 0);
  }
  ~ArrowTableTest() override {
    if (stream_.release != nullptr) stream_.release(&stream_);
    if (schema_.release != nullptr) schema_.release(&schema_);
    if (array_.release != nullptr) array_.release(&array_);
    EXPECT_TRUE(table_.expired()) << "whatever the order of the releases, nothing is left";
  }

  template <class T>
  T value(int column, int row) const {
    T read;
    std::memcpy(&read, static_cast<const char*>(array_.children[column]->buffers[1]) + sizeof(T) * static_cast<std::size_t>(row),
                sizeof(T));
    return read;
  }
  static bool bit(const void* bits, int at) { return (static_cast<const std::uint8_t*>(bits)[at / 8] >> at % 8 & 1) != 0; }
  std::string text(int column, int row) const {
    const ArrowArray& texts = *array_.children[column]->dictionary;
    const auto* offsets = static_cast<const std::int32_t*>(texts.buffers[1]);
    const auto number = value<std::int32_t>(column, row);
    return {static_cast<const char*>(texts.buffers[2]) + offsets[number], static_cast<std::size_t>(offsets[number + 1] - offsets[number])};
  }

  std::weak_ptr<const ArrowTable> table_;
  ArrowArrayStream stream_{};
  ArrowSchema schema_{};
  ArrowArray array_{};
};

TEST_F(ArrowTableTest, TheSchemaNamesTheColumnsAndTheirTypes) {
  EXPECT_STREQ(schema_.format, "+s");
  ASSERT_EQ(schema_.n_children, 6);
  const char* names[] = {"number", "maybe", "time", "odd", "text", "json"};
  const char* formats[] = {"l", "l", "g", "b", "i", "i"};
  for (int k = 0; k < 6; ++k) {
    EXPECT_STREQ(schema_.children[k]->name, names[k]);
    EXPECT_STREQ(schema_.children[k]->format, formats[k]);
  }
  EXPECT_EQ(schema_.children[0]->dictionary, nullptr);
  ASSERT_NE(schema_.children[4]->dictionary, nullptr);
  EXPECT_STREQ(schema_.children[4]->dictionary->format, "u");
}

TEST_F(ArrowTableTest, TheArrayHoldsTheValues) {
  EXPECT_EQ(array_.length, 3);
  EXPECT_EQ(value<std::int64_t>(0, 2), 3);
  EXPECT_EQ(array_.children[0]->buffers[0], nullptr) << "no row is null";
  EXPECT_EQ(array_.children[1]->null_count, 1);
  EXPECT_FALSE(bit(array_.children[1]->buffers[0], 0));
  EXPECT_TRUE(bit(array_.children[1]->buffers[0], 1));
  EXPECT_EQ(value<double>(2, 1), 1.0) << "times are microseconds";
  EXPECT_TRUE(bit(array_.children[3]->buffers[1], 0));
  EXPECT_FALSE(bit(array_.children[3]->buffers[1], 1));
  EXPECT_EQ(text(4, 1), "b\uFFFD") << "texts are valid UTF-8";
  EXPECT_EQ(value<std::int32_t>(4, 0), value<std::int32_t>(4, 2)) << "equal texts have one number";
  EXPECT_EQ(text(5, 2), "[a]");
}

TEST_F(ArrowTableTest, TheStreamEndsAfterOneArray) {
  ArrowArray end{};
  EXPECT_EQ(stream_.get_next(&stream_, &end), 0);
  EXPECT_EQ(end.release, nullptr);
  EXPECT_EQ(stream_.get_last_error(&stream_), nullptr);
}

TEST_F(ArrowTableTest, AColumnThatWasMovedOutOutlivesTheTable) {
  ArrowArray column = *array_.children[0];
  array_.children[0]->release = nullptr;  // how a consumer moves a struct
  array_.release(&array_);
  stream_.release(&stream_);
  schema_.release(&schema_);
  EXPECT_EQ(static_cast<const std::int64_t*>(column.buffers[1])[1], 2);
  column.release(&column);
  EXPECT_EQ(column.release, nullptr);
}

TEST(ArrowTable, ATableWithoutRowsIsAnArrayOfLengthZero) {
  ArrowArrayStream stream;
  open_arrow_stream(make_arrow_table(kSpan, 0, [](std::size_t) { return Row{}; }), &stream);
  ArrowArray array;
  ASSERT_EQ(stream.get_next(&stream, &array), 0);
  ASSERT_NE(array.release, nullptr);
  EXPECT_EQ(array.length, 0);
  EXPECT_EQ(array.children[4]->dictionary->length, 0);
  array.release(&array);
  stream.release(&stream);
}

}  // namespace
}  // namespace mindtorch::exporter
