// Each distinct name, frame and stack is stored once.
#include "mindtorch/trace/interning.h"

#include <gtest/gtest.h>

namespace mindtorch::trace {
namespace {

TEST(Interning, ANameKeepsItsIdHoweverManyComeAfterIt) {
  std::vector<std::string> names{""};
  NameInterner interner;
  EXPECT_EQ(interner.intern(names, ""), 0u);
  std::vector<NameId> ids;
  for (int i = 0; i < 10000; ++i) ids.push_back(interner.intern(names, "name" + std::to_string(i)));
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(interner.intern(names, "name" + std::to_string(i)), ids[static_cast<std::size_t>(i)]);
  EXPECT_EQ(names.size(), 10001u);
}

TEST(Interning, NamesAppendedByOthersAreFound) {
  std::vector<std::string> names{"", "first"};
  NameInterner interner;
  EXPECT_EQ(interner.intern(names, "first"), 1u);
  names.emplace_back("second");
  EXPECT_EQ(interner.intern(names, "second"), 2u);
  EXPECT_EQ(interner.intern(names, "third"), 3u);
}

TEST(Interning, NamesThatDifferOnlyAfterAZeroByteAreDifferent) {
  std::vector<std::string> names{""};
  NameInterner interner;
  EXPECT_NE(interner.intern(names, std::string_view("a\0b", 3)), interner.intern(names, std::string_view("a\0c", 3)));
}

TEST(Interning, EqualStacksAndFramesAreStoredOnce) {
  Stacks stacks;
  StackInterner interner;
  const std::vector<Frame> one{{1, 2, 10}, {1, 3, 20}}, two{{1, 3, 20}};
  EXPECT_EQ(interner.intern(stacks, one), 0u);
  EXPECT_EQ(interner.intern(stacks, two), 1u);
  EXPECT_EQ(interner.intern(stacks, one), 0u);
  EXPECT_EQ(interner.intern(stacks, {}), 2u);
  EXPECT_EQ(stacks.frames.size(), 2u);
  EXPECT_EQ(stacks.frames[stacks.frames_of(1)[0]], two[0]);
  EXPECT_TRUE(stacks.frames_of(2).empty());
}

}  // namespace
}  // namespace mindtorch::trace
