// Averages of rows: which rows are one, and what is kept of each.
#include "mindtorch/analyze/row_groups.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;

Average row(const std::string& key, std::int64_t total_ns) {
  Average average;
  average.key = key;
  average.count = 1;
  average.cpu_time_total_ns = total_ns;
  average.input_shapes = Shapes{{total_ns}};
  average.stack = {"inner", "outer"};
  average.overload_name = "out";
  return average;
}

RowGroups groups_of(const std::vector<Average>& rows, const GroupOptions& options = {}) {
  return group_rows({rows.size(), [&](std::size_t i) { return rows[i]; }, "events", "FunctionEvent"}, options);
}

std::vector<std::string> texts(const RowGroups& groups) {
  std::vector<std::string> lines;
  for (const Average& average : groups.averages.rows)
    lines.push_back(average.key + " " + std::to_string(average.count) + " " + std::to_string(average.cpu_time_total_ns));
  return lines;
}

TEST(RowGroups, RowsOfOneNameBecomeOneInTheOrderOfTheirFirst) {
  const RowGroups groups = groups_of({row("b", 1), row("a", 2), row("b", 4)});
  EXPECT_THAT(texts(groups), ElementsAre("b 2 5", "a 1 2"));
  EXPECT_THAT(groups.first, ElementsAre(0, 1));
}

TEST(RowGroups, WhatWasNotAskedForIsNotKept) {
  const Average merged = groups_of({row("a", 1), row("a", 2)}).averages.rows.at(0);
  EXPECT_FALSE(merged.input_shapes.has_value());
  EXPECT_TRUE(merged.stack.empty());
  EXPECT_TRUE(merged.overload_name.empty());
}

TEST(RowGroups, ShapesStacksAndOverloadsSplitRowsIfAsked) {
  EXPECT_THAT(texts(groups_of({row("a", 1), row("a", 2)}, {.group_by_input_shape = true})), ElementsAre("a 1 1", "a 1 2"));
  std::vector<Average> rows{row("a", 1), row("a", 2)};
  rows[1].stack = {"inner", "elsewhere"};
  EXPECT_THAT(texts(groups_of(rows, {.group_by_stack_n = 1})), ElementsAre("a 2 3"));
  EXPECT_THAT(texts(groups_of(rows, {.group_by_stack_n = 2})), ElementsAre("a 1 1", "a 1 2"));
  rows[1].overload_name = "";
  EXPECT_THAT(texts(groups_of(rows, {.group_by_overload_name = true})), ElementsAre("a 1 1", "a 1 2"));
}

TEST(RowGroups, AnnotationsAndDevicesAreRowsOfTheirOwn) {
  std::vector<Average> rows{row("a", 1), row("a", 2), row("a", 4)};
  rows[1].is_user_annotation = true;
  rows[2].device_type = trace::DeviceType::kCuda;
  EXPECT_THAT(texts(groups_of(rows)), ElementsAre("a 1 1", "a 1 2", "a 1 4"));
}

}  // namespace
}  // namespace mindtorch::analyze
