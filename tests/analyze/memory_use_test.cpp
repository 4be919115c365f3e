// MemoryUse: reports go to the innermost open event of their thread. MemoryTotals: what a device held at a time.
#include "mindtorch/analyze/memory_use.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mindtorch/analyze/analysis.h"
#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;

TEST(MemoryUse, AReportBelongsToTheInnermostEventOfItsThread) {
  Maker maker;
  const trace::TrackId other = maker.builder().add_thread(200);
  const auto outer = maker.op("outer", 10, 100);
  const auto inner = maker.op("inner", 20, 30);
  const auto elsewhere = maker.add({.name = "elsewhere", .track = other, .start_ns = 0, .duration_ns = 500});
  maker.memory(30, 100);
  maker.memory(60, -40);
  maker.builder().add_memory(30, other, kNpu0, 1, 7, 7, 7);
  const trace::Recording recording = maker.finish();
  const auto& at = maker.new_index();
  const Analysis analysis(recording);
  const MemoryUse& use = analysis.memory_use();
  EXPECT_EQ(use.self(at[inner]), (MemoryDelta{100, 0}));
  EXPECT_EQ(use.self(at[outer]), (MemoryDelta{-40, 0}));
  EXPECT_EQ(use.total(at[outer]), (MemoryDelta{60, 0}));
  EXPECT_EQ(use.total(at[elsewhere]), (MemoryDelta{0, 7}));
  EXPECT_TRUE(use.outside().empty());
}

TEST(MemoryUse, TheEndsOfAnEventBelongToIt) {
  Maker maker;
  const auto a = maker.op("a", 10, 10);
  const auto b = maker.op("b", 20, 10);
  maker.memory(10, 1);
  maker.memory(20, 2);  // a ends, b starts: the later one
  maker.memory(30, 4);
  maker.memory(31, 8);
  const trace::Recording recording = maker.finish();
  const auto& at = maker.new_index();
  const Analysis analysis(recording);
  EXPECT_EQ(analysis.memory_use().self(at[a]).cpu, 1);
  EXPECT_EQ(analysis.memory_use().self(at[b]).cpu, 6);
  EXPECT_THAT(analysis.memory_use().outside(), ElementsAre(3));
}

TEST(MemoryUse, WhatAnEventAllocatedItselfLeavesOutFreesAndInnerEvents) {
  Maker maker;
  const auto outer = maker.op("outer", 10, 100);
  const auto inner = maker.op("inner", 20, 30);
  maker.memory(15, 7);
  maker.memory(30, 100);
  maker.memory(35, -40);
  maker.memory(500, 3);  // outside of events
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const std::vector<std::int64_t> allocated = allocated_by_event(recording, analysis.memory_use());
  EXPECT_EQ(allocated[maker.new_index()[outer]], 7);
  EXPECT_EQ(allocated[maker.new_index()[inner]], 100);
}

TEST(MemoryUse, ReportsBeforeTheStartAreNotEventsOfTheirOwn) {
  Maker maker;
  maker.op("a", 100, 10);
  maker.builder().recording().clock.start_ns = 50;
  maker.memory(50, 1);
  maker.memory(60, 2);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_THAT(analysis.memory_use().outside(), ElementsAre(1));
}

TEST(MemoryUse, MemoryOfAMergedCallIsLifted) {
  Maker maker;
  const auto outer = maker.op("aten::to", 0, 100);
  maker.op("aten::to", 10, 50);
  maker.memory(20, 16);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_EQ(analysis.memory_use().self(maker.new_index()[outer]).cpu, 16);
}

TEST(MemoryUse, RandomReportsAreFoundWhereALinearSearchFindsThem) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    Maker maker;
    for (int i = 0; i < 40; ++i) maker.op("op" + std::to_string(random() % 3), random() % 80, random() % 40);
    for (int i = 0; i < 60; ++i) maker.memory(1 + random() % 120, 1 + random() % 9);
    const trace::Recording recording = maker.finish();
    const Analysis analysis(recording);
    for (std::size_t r = 0; r < recording.memory.size(); ++r) {
      EventIndex expected = kNoEvent;
      const std::int64_t time = recording.memory.time_ns[r];
      for (EventIndex i = 0; i < recording.events.size(); ++i) {
        // The last started one, as long as nothing started after it: later events hide those they overlap in part.
        if (analysis.tree().is_node(i) && recording.events.start_ns[i] <= time) expected = i;
      }
      while (expected != kNoEvent && recording.events.end_ns(expected) < time) expected = analysis.tree().parent(expected);
      ASSERT_EQ(analysis.memory_use().node_of(r), expected) << "seed " << seed << " report " << r;
    }
  }
}

TEST(MemoryTotals, ATotalIsThatOfTheLastReportOfTheDevice) {
  Maker maker;
  constexpr trace::Device kSilent{trace::DeviceType::kNpu, 3};
  maker.builder().recording().memory_baselines = {{{}, 990, 2000}, {kSilent, 7, 7}};
  maker.builder().add_memory(10, 0, {}, 1, 24, 1024, 2048);
  maker.builder().add_memory(20, 0, kNpu0, 2, 5, 105, 200);
  maker.builder().add_memory(30, 0, {}, 1, -24, 1000, 2048);
  const trace::Recording recording = maker.finish();
  const MemoryTotals totals(recording);
  EXPECT_EQ(totals.before({}, 10), 1000) << "what the first report started from, which is newer than the baseline";
  EXPECT_EQ(totals.after({}, 10), 1024);
  EXPECT_EQ(totals.after({}, 29), 1024);
  EXPECT_EQ(totals.after({}, 30), 1000);
  EXPECT_EQ(totals.before(kNpu0, 20), 100) << "no baseline";
  EXPECT_EQ(totals.after(kNpu0, 20), 105);
  EXPECT_EQ(totals.after(kSilent, 20), 7) << "no report: the baseline";
  EXPECT_EQ(totals.after({trace::DeviceType::kCuda, 0}, 20), 0);
}

}  // namespace
}  // namespace mindtorch::analyze
