// References to stacks: resolved when all parts of a file are together.
#include "mindtorch/ingest/chrome/stack_references.h"

#include <gtest/gtest.h>

#include "mindtorch/trace/interning.h"

namespace mindtorch::ingest::chrome {
namespace {

class StackReferencesTest : public ::testing::Test {
 protected:
  trace::StackId add(trace::EventIndex event, std::vector<trace::Frame> frames) {
    const trace::StackId stack = interner_.intern(stacks_, frames);
    stacks_.of_event.add(event, {&stack, 1});
    return stack;
  }
  trace::StackId refer(trace::EventIndex event, std::int64_t id) { return add(event, {{.line = stack_reference(id)}}); }
  // The lines of the frames of an event.
  std::vector<int> lines(trace::EventIndex event) const {
    std::vector<int> found;
    for (const trace::StackId stack : stacks_.of_event.find(event))
      for (const std::uint32_t frame : stacks_.frames_of(stack)) found.push_back(stacks_.frames[frame].line);
    return found;
  }

  trace::Stacks stacks_;
  trace::StackInterner interner_;
};

TEST_F(StackReferencesTest, AnEventGetsTheStackThatItRefersTo) {
  const trace::StackId first = add(0, {{1, 2, 10}, {1, 3, 20}});
  refer(1, 7);
  const trace::StackId second = add(2, {{1, 2, 30}});
  refer(3, 9);
  refer(4, 7);
  resolve_stack_references({{7, first}, {9, second}}, stacks_);
  EXPECT_EQ(lines(1), (std::vector<int>{10, 20}));
  EXPECT_EQ(lines(3), std::vector<int>{30});
  EXPECT_EQ(lines(4), lines(0));
  EXPECT_EQ(stacks_.size(), 2u);
  EXPECT_EQ(stacks_.frames.size(), 3u);
}

TEST_F(StackReferencesTest, AReferenceMayComeBeforeItsStack) {
  refer(0, 0);
  const trace::StackId stack = add(1, {{1, 2, 10}});
  resolve_stack_references({{0, stack}}, stacks_);
  EXPECT_EQ(lines(0), std::vector<int>{10});
}

TEST_F(StackReferencesTest, AnEventWhoseStackIsMissingHasNone) {
  add(0, {{1, 2, 10}});
  refer(1, 5);
  resolve_stack_references({}, stacks_);
  EXPECT_TRUE(lines(1).empty());
  EXPECT_EQ(lines(0), std::vector<int>{10});
}

TEST_F(StackReferencesTest, AReferenceToAReferenceIsNotFollowed) {
  const trace::StackId loop = refer(0, 1);
  refer(1, 2);
  resolve_stack_references({{1, loop}, {2, loop}}, stacks_);
  EXPECT_TRUE(lines(0).empty());
  EXPECT_TRUE(lines(1).empty());
}

TEST_F(StackReferencesTest, StacksWithoutReferencesStayAsTheyAre) {
  add(0, {{1, 2, 10}});
  add(1, {{0, 0, 0}});
  const trace::Stacks before = stacks_;
  resolve_stack_references({}, stacks_);
  EXPECT_EQ(stacks_, before);
}

}  // namespace
}  // namespace mindtorch::ingest::chrome
