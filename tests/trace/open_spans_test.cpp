// What is open along a track.
#include "mindtorch/trace/open_spans.h"

#include <gmock/gmock.h>

#include <vector>

namespace mindtorch::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(OpenSpans, WhatHasEndedIsClosedInnermostFirst) {
  OpenSpans<int> open;
  open.open(100, 1);
  open.open(50, 2);
  open.open(50, 3);
  std::vector<int> closed;
  const auto note = [&](const auto& span) {
    EXPECT_EQ(open.innermost(), span.value);  // still open while the walk hears of it
    closed.push_back(span.value);
  };
  open.close_until(49, note);
  EXPECT_THAT(closed, IsEmpty());
  open.close_until(50, note);  // a span ends before another one begins at the same time
  EXPECT_THAT(closed, ElementsAre(3, 2));
  EXPECT_EQ(open.innermost(), 1);
  open.close_until(100);
  EXPECT_TRUE(open.empty());
}

TEST(OpenSpans, AllAreListedOutermostFirst) {
  OpenSpans<int> open;
  open.open(9, 4);
  open.open(7, 5);
  std::vector<int> values;
  for (const auto& span : open.all()) values.push_back(span.value);
  EXPECT_THAT(values, ElementsAre(4, 5));
  open.clear();
  EXPECT_TRUE(open.empty());
}

}  // namespace
}  // namespace mindtorch::trace
