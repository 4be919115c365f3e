// Side rows in a piece: lies about rows and values are refused before they cost memory.
#include "mindtorch/trace/side_rows.h"

#include <gtest/gtest.h>

#include <array>

#include "mindtorch/base/error.h"

namespace mindtorch::trace {
namespace {

// Writes what encode_rows() would never write.
template <class Write>
void expect_malformed(std::size_t events, Write&& write) {
  ByteWriter out;
  write(out);
  ByteReader in(out.bytes());
  ColumnCodec columns;
  SideTable<StackId> table;
  EXPECT_THROW(decode_rows(in, columns, 0, events, KnownIds{.names = 1, .stacks = 3}, table), Malformed);
}

TEST(SideRows, OfDifferentAndEqualRowsComeBack) {
  SharedTable<Attribute> table;
  for (EventIndex i = 0; i < 50; ++i) {
    std::vector<Attribute> row(i % 3);
    for (Attribute& a : row) a = {i % 2, Attribute::Type::kInt, static_cast<std::int64_t>(i % 5) << 40};
    if (i % 4 != 1) table.add(10 + i, row);
  }
  ColumnCodec columns;
  ByteWriter out;
  encode_rows(SideRows<Attribute>(table), 10, 50, KnownIds{.names = 2}, columns, out);
  SharedTable<Attribute> got;
  ByteReader in(out.bytes());
  decode_rows(in, columns, 10, 50, KnownIds{.names = 2}, got);
  EXPECT_EQ(got, table);
}

TEST(SideRows, ThatEventsShareAreStoredOnceAndComeBackShared) {
  SharedTable<Attribute> table;
  for (std::int64_t row = 0; row < 3; ++row) table.add_shared_row(std::array{Attribute{1, Attribute::Type::kInt, row}});
  for (EventIndex i = 0; i < 90; ++i) table.share(i, i % 3);
  ColumnCodec columns;
  ByteWriter out;
  encode_rows(SideRows<Attribute>(table, 30, 60), 30, 30, KnownIds{.names = 2}, columns, out);
  SharedTable<Attribute> got;
  ByteReader in(out.bytes());
  decode_rows(in, columns, 0, 30, KnownIds{.names = 2}, got);
  EXPECT_EQ(got.shared_rows(), 3u);
  ASSERT_EQ(got.events.size(), 30u);
  for (std::size_t k = 0; k < 30; ++k) EXPECT_EQ(got.row(k)[0].bits, static_cast<std::int64_t>(k % 3));
}

TEST(SideRows, OfARangeOfEventsAreThoseRowsOnly) {
  SideTable<StackId> table;
  for (const EventIndex event : {2U, 5U, 6U, 9U}) table.add(event, std::vector<StackId>{event * 10});
  const SideRows<StackId> some(table, 5, 9);
  ASSERT_EQ(some.events.size(), 2u);
  EXPECT_EQ(some.events[1], 6u);
  EXPECT_EQ(some.row(0)[0], 50u);
  EXPECT_EQ(some.value_count(), 2u);
  EXPECT_TRUE(SideRows<StackId>(table, 7, 9).events.empty());
  EXPECT_EQ(SideRows<StackId>(table, 0, 100).events.size(), 4u);
}

TEST(SideRows, OfNoEventTakeOneByte) {
  ColumnCodec columns;
  ByteWriter out;
  encode_rows(SideRows<StackId>(), 7, 100, KnownIds{}, columns, out);
  EXPECT_EQ(out.bytes().size(), 1u);
}

TEST(SideRows, ThatDoNotExistAreMalformed) {
  const auto one_stack = [](ByteWriter& out, std::uint64_t rows) {
    out.number(rows);
    out.number(1), out.number(1), out.number(2);  // one distinct row: {2}
  };
  expect_malformed(4, [&](ByteWriter& out) { one_stack(out, 5); });  // more rows than events
  expect_malformed(4, [&](ByteWriter& out) {
    one_stack(out, 1);
    out.column(std::vector<std::int64_t>{4});  // event 4 of 4
    out.column(std::vector<std::int64_t>{0});
  });
  expect_malformed(4, [&](ByteWriter& out) {
    one_stack(out, 1);
    out.column(std::vector<std::int64_t>{-1});
    out.column(std::vector<std::int64_t>{0});
  });
  expect_malformed(4, [&](ByteWriter& out) {
    one_stack(out, 2);
    out.column(std::vector<std::int64_t>{0, 3});  // events 0 and 4
    out.column(std::vector<std::int64_t>{0, 1});
  });
  expect_malformed(4, [&](ByteWriter& out) {
    one_stack(out, 2);
    out.column(std::vector<std::int64_t>{0, 0});
    out.column(std::vector<std::int64_t>{0, 0});  // a second distinct row, but there is one
  });
  expect_malformed(4, [&](ByteWriter& out) {
    one_stack(out, 1);
    out.column(std::vector<std::int64_t>{0});
    out.column(std::vector<std::int64_t>{1});  // the row before the first
  });
  expect_malformed(4, [&](ByteWriter& out) {
    out.number(1);
    out.number(1), out.number(2), out.number(0), out.number(0);  // two stacks of one event
  });
  expect_malformed(4, [&](ByteWriter& out) {
    out.number(1);
    out.number(1), out.number(1), out.number(3);  // stack 3 of 3
  });
}

TEST(SideRows, ThatMultiplyBeyondTheLimitAreMalformed) {
  constexpr std::size_t kLength = 100'000, kRows = 1000;  // 1e8 values from 100 kB
  ByteWriter out;
  out.number(kRows);
  out.number(1), out.number(kLength);
  for (std::size_t i = 0; i < kLength; ++i) out.number(0), out.u8(0), out.number(0);
  out.column(std::vector<std::int64_t>(kRows, 0));
  std::vector<std::int64_t> codes(kRows, 1);
  codes[0] = 0;
  out.column(codes);
  ByteReader in(out.bytes());
  ColumnCodec columns;
  SharedTable<Attribute> table;
  EXPECT_THROW(decode_rows(in, columns, 0, kRows, KnownIds{.names = 1}, table), Malformed);
  EXPECT_TRUE(table.values.empty());
}

TEST(SideRows, OfAnotherPieceAreRefused) {
  SideTable<StackId> table;
  table.add(9, std::vector<StackId>{0});
  ColumnCodec columns;
  ByteWriter out;
  EXPECT_THROW(encode_rows(SideRows<StackId>(table), 10, 5, KnownIds{.stacks = 1}, columns, out), InvalidArgument);
  EXPECT_THROW(encode_rows(SideRows<StackId>(table), 0, 9, KnownIds{.stacks = 1}, columns, out), InvalidArgument);
  EXPECT_NO_THROW(encode_rows(SideRows<StackId>(table), 0, 10, KnownIds{.stacks = 1}, columns, out));
}

}  // namespace
}  // namespace mindtorch::trace
