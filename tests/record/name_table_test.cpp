// NameTable: ids count up, texts stay where they are, and its lock keeps other threads out.
#include "mindtorch/record/name_table.h"

#include <gtest/gtest.h>

#include <thread>

namespace mindtorch::record {
namespace {

TEST(NameTable, GivesEachTextTheNextId) {
  NameTable table;
  EXPECT_EQ(table.size(), 1u);
  EXPECT_EQ(table.intern(""), 0u);
  EXPECT_EQ(table.intern("a"), 1u);
  EXPECT_EQ(table.intern("b"), 2u);
  EXPECT_EQ(table.intern("a"), 1u);
  EXPECT_EQ(table.size(), 3u);
}

TEST(NameTable, TextsStayWhereTheyAre) {
  NameTable table;
  const std::string& first = table.text(table.intern("first"));
  for (int i = 0; i < 1000; ++i) table.intern(std::to_string(i));
  EXPECT_EQ(&table.text(1), &first);
  EXPECT_EQ(first, "first");
  EXPECT_THROW(table.text(5000), std::out_of_range);
}

TEST(NameTable, NothingIsAddedWhileItIsLocked) {
  NameTable table;
  table.lock();
  std::thread other([&] { table.intern("late"); });
  EXPECT_EQ(table.size(), 1u);
  table.unlock();
  other.join();
  EXPECT_EQ(table.size(), 2u);
}

TEST(NameTable, OfTheProcessIsOne) { EXPECT_EQ(&name_table(), &name_table()); }

}  // namespace
}  // namespace mindtorch::record
