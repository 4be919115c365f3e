// Flame trees: recorded stacks if there are any, else the nesting of events; weights add up.
#include "mindtorch/export/stacks/flame_tree.h"

#include <gmock/gmock.h>

#include "mindtorch/base/error.h"
#include "mindtorch/trace/builder.h"
#include "tests/export/sample_recordings.h"

namespace mindtorch::exporter {
namespace {

using analyze::CollapsedStack;
using testing::ElementsAre;

std::vector<std::string> texts(const std::vector<CollapsedStack>& stacks) {
  std::vector<std::string> lines;
  for (const CollapsedStack& stack : stacks) {
    std::string line;
    for (const std::string& frame : stack.frames) line += (line.empty() ? "" : ";") + frame;
    lines.push_back(line + " " + std::to_string(stack.weight_ns));
  }
  return lines;
}

TEST(FlameTree, RecordedStacksComeFirst) {
  const trace::Recording recording = tests::full_recording();
  const std::vector<std::string> lines = texts(flame_stacks(analyze::Analysis(recording), "self_cpu_time_total"));
  EXPECT_THAT(lines, testing::Contains(testing::StartsWith("train.py:7:<module>;train.py:14:forward ")));
}

TEST(FlameTree, WithoutStacksTheNestingOfEventsIsTheStackAndAllTimeIsThere) {
  trace::RecordingBuilder builder;
  const auto track = builder.add_thread(1), other = builder.add_thread(2);
  builder.add_event({.name = "ProfilerStep#1", .kind = trace::EventKind::kStep, .track = track, .start_ns = 0, .duration_ns = 100});
  builder.add_event({.name = "a b", .track = track, .start_ns = 10, .duration_ns = 50});
  builder.add_event({.name = "c", .track = track, .start_ns = 20, .duration_ns = 30});
  builder.add_event({.name = "ProfilerStep#2", .kind = trace::EventKind::kStep, .track = track, .start_ns = 100, .duration_ns = 100});
  builder.add_event({.name = "a b", .track = track, .start_ns = 110, .duration_ns = 50});
  builder.add_event({.name = "c", .track = other, .start_ns = 0, .duration_ns = 7});
  const trace::Recording recording = builder.finish();
  EXPECT_THAT(texts(flame_stacks(analyze::Analysis(recording), "self_cpu_time_total")),
              ElementsAre("ProfilerStep* 100", "ProfilerStep*;a_b 70", "ProfilerStep*;a_b;c 30", "c 7"));
}

TEST(FlameTree, WhatOverlapsInPartIsNotCountedTwice) {
  trace::RecordingBuilder builder;
  const auto track = builder.add_thread(1);
  builder.add_event({.name = "call", .track = track, .start_ns = 0, .duration_ns = 100});
  builder.add_event({.name = "annotation", .kind = trace::EventKind::kScope, .track = track, .start_ns = 50, .duration_ns = 100});
  builder.add_event({.name = "next", .track = track, .start_ns = 100, .duration_ns = 50});
  const trace::Recording recording = builder.finish();
  EXPECT_THAT(texts(flame_stacks(analyze::Analysis(recording), "self_cpu_time_total")), ElementsAre("call 100", "next 50"));
}

TEST(FlameTree, DeviceTimeLiesWhereItWasLaunched) {
  const trace::Recording recording = tests::device_recording(trace::DeviceType::kNpu);
  const auto stacks = flame_stacks(analyze::Analysis(recording), "self_privateuse1_time_total");
  EXPECT_THAT(texts(stacks), testing::Contains("ProfilerStep*;aten::mm 60000"));
}

TEST(FlameTree, AnUnknownMetricIsRefused) {
  const trace::Recording recording = tests::cpu_recording();
  EXPECT_THROW(flame_stacks(analyze::Analysis(recording), "wall"), InvalidArgument);
}

TEST(FlameTree, NodesNestAndLieSideBySide) {
  const std::vector<FlameNode> nodes = flame_tree({{{"a", "b"}, 5}, {{"c"}, 2}, {{"a"}, 3}, {{"a", "d"}, 4}});
  std::vector<std::string> lines;
  for (const FlameNode& node : nodes) {
    lines.push_back(std::string(node.depth, ' ') + node.name + " " + std::to_string(node.start_ns) + "+" + std::to_string(node.weight_ns));
  }
  EXPECT_THAT(lines, ElementsAre("all 0+14", " a 0+12", "  b 3+5", "  d 8+4", " c 12+2"));
}

TEST(FlameTree, DeepRecursionIsNoProblem) {
  CollapsedStack deep{{}, 1};
  for (int i = 0; i < 20000; ++i) deep.frames.push_back("f");
  EXPECT_EQ(flame_tree({deep}).size(), 20001U);
}

}  // namespace
}  // namespace mindtorch::exporter
