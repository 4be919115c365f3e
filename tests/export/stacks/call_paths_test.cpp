// Call paths: recorded stacks if there are any, else the nesting of events; weights add up, and deep paths are bounded.
#include "mindtorch/export/stacks/call_paths.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <numeric>

#include "mindtorch/base/error.h"
#include "mindtorch/trace/builder.h"
#include "tests/support/sample_recordings.h"

namespace mindtorch::exporter {
namespace {

using testing::ElementsAre;

// Each path that took time, with its time.
std::vector<std::string> texts(const CallPaths& paths) {
  std::vector<std::string> lines;
  for (const CallPaths::Path& end : paths.paths()) {
    if (end.weight_ns <= 0) continue;
    std::string line;
    for (const CallPaths::Path* at = &end; at->depth > 0; at = &paths.paths()[at->above])
      line = paths.text(at->frame) + (line.empty() ? "" : ";") + line;
    lines.push_back(line + " " + std::to_string(end.weight_ns));
  }
  return lines;
}

std::int64_t total(const CallPaths& paths) {
  return std::accumulate(paths.paths().begin(), paths.paths().end(), std::int64_t{0},
                         [](std::int64_t sum, const CallPaths::Path& path) { return sum + path.weight_ns; });
}

TEST(CallPaths, RecordedStacksComeFirst) {
  const trace::Recording recording = tests::full_recording();
  const std::vector<std::string> lines = texts(call_paths(analyze::Analysis(recording), "self_cpu_time_total"));
  EXPECT_THAT(lines, testing::Contains(testing::StartsWith("<module> (train.py:7);forward (train.py:14);aten::")));
}

TEST(CallPaths, RecordedCallsHaveTheirFunctionFirst) {
  trace::RecordingBuilder builder;
  const auto track = builder.add_thread(1);
  builder.add_event(
      {.name = "train.py(3): main", .kind = trace::EventKind::kPythonFunction, .track = track, .start_ns = 0, .duration_ns = 100});
  builder.add_event({.name = "aten::mm", .track = track, .start_ns = 10, .duration_ns = 50});
  const trace::Recording recording = builder.finish();
  EXPECT_THAT(texts(call_paths(analyze::Analysis(recording), "self_cpu_time_total")),
              ElementsAre("main (train.py:3) 50", "main (train.py:3);aten::mm 50"));
}

TEST(CallPaths, WithoutStacksTheNestingOfEventsIsTheStackAndAllTimeIsThere) {
  trace::RecordingBuilder builder;
  const auto track = builder.add_thread(1), other = builder.add_thread(2);
  builder.add_event({.name = "ProfilerStep#1", .kind = trace::EventKind::kStep, .track = track, .start_ns = 0, .duration_ns = 100});
  builder.add_event({.name = "a b", .track = track, .start_ns = 10, .duration_ns = 50});
  builder.add_event({.name = "c", .track = track, .start_ns = 20, .duration_ns = 30});
  builder.add_event({.name = "ProfilerStep#2", .kind = trace::EventKind::kStep, .track = track, .start_ns = 100, .duration_ns = 100});
  builder.add_event({.name = "a b", .track = track, .start_ns = 110, .duration_ns = 50});
  builder.add_event({.name = "c", .track = other, .start_ns = 0, .duration_ns = 7});
  const trace::Recording recording = builder.finish();
  EXPECT_THAT(texts(call_paths(analyze::Analysis(recording), "self_cpu_time_total")),
              ElementsAre("ProfilerStep* 100", "ProfilerStep*;a b 70", "ProfilerStep*;a b;c 30", "c 7"));
}

TEST(CallPaths, WhatOverlapsInPartIsNotCountedTwice) {
  trace::RecordingBuilder builder;
  const auto track = builder.add_thread(1);
  builder.add_event({.name = "call", .track = track, .start_ns = 0, .duration_ns = 100});
  builder.add_event({.name = "annotation", .kind = trace::EventKind::kScope, .track = track, .start_ns = 50, .duration_ns = 100});
  builder.add_event({.name = "next", .track = track, .start_ns = 100, .duration_ns = 50});
  const trace::Recording recording = builder.finish();
  EXPECT_THAT(texts(call_paths(analyze::Analysis(recording), "self_cpu_time_total")), ElementsAre("call 100", "next 50"));
}

TEST(CallPaths, DeviceTimeLiesWhereItWasLaunched) {
  const trace::Recording recording = tests::device_recording(trace::DeviceType::kNpu);
  const CallPaths paths = call_paths(analyze::Analysis(recording), "self_privateuse1_time_total");
  EXPECT_THAT(texts(paths), testing::Contains("ProfilerStep*;aten::mm 60000"));
}

TEST(CallPaths, AnUnknownMetricIsRefused) {
  const trace::Recording recording = tests::cpu_recording();
  EXPECT_THROW(call_paths(analyze::Analysis(recording), "wall"), InvalidArgument);
}

// `chains` times `depth` nested scopes, each with a name of its own and one nanosecond to itself.
trace::Recording nested_scopes(int depth, int chains = 1, std::string_view prefix = "scope") {
  trace::RecordingBuilder builder;
  const auto track = builder.add_thread(1);
  for (int c = 0; c < chains; ++c)
    for (int i = 0; i < depth; ++i)
      builder.add_event(
          {.name = fmt::format("{} {} {}", prefix, c, i), .track = track, .start_ns = c * depth + i, .duration_ns = depth - i});
  return builder.finish();
}

TEST(CallPaths, DeepNestingIsGatheredBelowTheLimitAndNoTimeIsLost) {
  const trace::Recording recording = nested_scopes(20000);
  const CallPaths paths = call_paths(analyze::Analysis(recording), "self_cpu_time_total");
  EXPECT_EQ(paths.cut_depth(), CallPaths::kMostDepth);
  EXPECT_EQ(paths.cut_paths(), 20000 - CallPaths::kMostDepth + 1);
  EXPECT_EQ(paths.paths().size(), CallPaths::kMostDepth + 1);
  EXPECT_EQ(paths.text(paths.paths().back().frame), CallPaths::kDeeper);
  EXPECT_EQ(paths.paths().back().weight_ns, 20000 - CallPaths::kMostDepth + 1);
  EXPECT_EQ(total(paths), 20000);
}

TEST(CallPaths, WhatFitsIsNotCut) {
  const trace::Recording recording = nested_scopes(CallPaths::kMostDepth);
  const CallPaths paths = call_paths(analyze::Analysis(recording), "self_cpu_time_total");
  EXPECT_EQ(paths.cut_depth(), 0);
  EXPECT_EQ(paths.paths().size(), CallPaths::kMostDepth + 1);
}

TEST(CallPaths, ManyDeepChainsOfLongNamesAreCutFurther) {
  const trace::Recording recording = nested_scopes(1000, 8, std::string(100, 'n'));
  const CallPaths paths = call_paths(analyze::Analysis(recording), "self_cpu_time_total");
  EXPECT_EQ(paths.cut_depth(), CallPaths::kMostDepth / 2);
  EXPECT_EQ(total(paths), 8000);
}

}  // namespace
}  // namespace mindtorch::exporter
