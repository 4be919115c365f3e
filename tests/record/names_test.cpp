// Interned names: one id a text, whichever thread asks.
#include "mindtorch/record/names.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace mindtorch::record {
namespace {

TEST(Names, EqualTextsHaveOneIdAndItsText) {
  const trace::NameId id = intern("aten::mul");
  EXPECT_EQ(intern(std::string("aten::") + "mul"), id);
  EXPECT_EQ(intern_cached("aten::mul"), id);
  EXPECT_EQ(name_text(id), "aten::mul");
  EXPECT_NE(intern("aten::mul_"), id);
}

TEST(Names, TheEmptyNameIsZero) {
  EXPECT_EQ(intern(""), 0u);
  EXPECT_EQ(intern_cached(""), 0u);
}

TEST(Names, TheCacheTellsTextsOfEqualEndsApart) {
  // Same length, same first and last eight bytes: they fall on one cache entry and must push each other out.
  const trace::NameId a = intern_cached("layer_00_AAAA_weights!"), b = intern_cached("layer_00_BBBB_weights!");
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(intern_cached("layer_00_AAAA_weights!"), a);
    EXPECT_EQ(intern_cached("layer_00_BBBB_weights!"), b);
  }
  EXPECT_NE(a, b);
}

TEST(Names, ThousandsOfNamesFromManyThreadsAgree) {
  std::vector<std::vector<trace::NameId>> ids(4);
  std::vector<std::thread> threads;
  for (auto& mine : ids)
    threads.emplace_back([&mine] {
      for (int i = 0; i < 5000; ++i) mine.push_back(intern_cached("name " + std::to_string(i)));
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& mine : ids) EXPECT_EQ(mine, ids[0]);
  EXPECT_EQ(std::set<trace::NameId>(ids[0].begin(), ids[0].end()).size(), 5000u);
  EXPECT_EQ(name_text(ids[0][4321]), "name 4321");
}

TEST(Names, HoldAnyBytes) {
  const std::string hostile("a\0b\xff\n", 5);
  EXPECT_EQ(name_text(intern_cached(hostile)), hostile);
}

}  // namespace
}  // namespace mindtorch::record
