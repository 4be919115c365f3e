// Memory timeline: entries, torch's two data shapes, categories over time, peaks.
#include "mindtorch/analyze/memory_timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using trace::MemoryCategory;
using Row = std::array<std::int64_t, 9>;

constexpr std::int64_t kBase = 1'700'000'000'000'000'000;
constexpr auto kCreate = MemoryAction::kCreate, kDestroy = MemoryAction::kDestroy, kChange = MemoryAction::kIncrementVersion,
               kBefore = MemoryAction::kPreexisting;

struct Timed {
  Timed() { maker.builder().recording().clock = {.base_unix_ns = kBase, .start_ns = 100, .end_ns = 1'000'000}; }
  void report(std::int64_t time, std::uint64_t address, std::int64_t bytes, trace::Device device = {}, std::int64_t total = 0) {
    maker.builder().add_memory(time, 0, device, address, bytes, total, 0);
  }
  void tag(std::int64_t time, std::uint64_t address, MemoryCategory category) {
    maker.builder().recording().memory_tags.push_back({time, address, category});
  }
  MemoryTimeline timeline(trace::Device device = {}) {
    recording = maker.finish();
    return memory_timeline(Analysis(recording), device);
  }
  Maker maker;
  trace::Recording recording;
};

TEST(MemoryTimeline, BlocksComeAndGoUnderTheTagOfTheHost) {
  Timed t;
  t.report(2000, 0xA, 512);
  t.tag(2500, 0xA, MemoryCategory::kParameter);
  t.report(5000, 0xA, -512);
  t.report(6000, 0xA, 64);  // the same address again: another block, no tag
  const MemoryTimeline m = t.timeline();
  EXPECT_THAT(m.entries, ElementsAre(MemoryEntry{kBase + 2000, kCreate, 512, MemoryCategory::kParameter},
                                     MemoryEntry{kBase + 5000, kDestroy, -512, MemoryCategory::kParameter},
                                     MemoryEntry{kBase + 6000, kCreate, 64, MemoryCategory::kUnknown}));
  EXPECT_THAT(m.times_us, ElementsAre(kBase / 1000 + 2, kBase / 1000 + 5, kBase / 1000 + 6));
  EXPECT_THAT(m.sizes, ElementsAre(Row{0, 512}, Row{}, Row{0, 0, 0, 0, 0, 0, 0, 0, 64}));
  EXPECT_EQ(m.peak, 512);
  EXPECT_EQ(m.peak_unix_ns, kBase + 2000);
  EXPECT_EQ(m.category_peaks[0], 512);
  EXPECT_EQ(m.category_peaks[7], 64);
}

TEST(MemoryTimeline, ALaterTagMovesTheBlockToAnotherCategory) {
  Timed t;
  t.report(2000, 0xA, 8);
  t.tag(2100, 0xA, MemoryCategory::kActivation);
  t.tag(3000, 0xA, MemoryCategory::kActivation);
  t.tag(4000, 0xA, MemoryCategory::kGradient);
  const MemoryTimeline m = t.timeline();
  EXPECT_THAT(m.entries, ElementsAre(MemoryEntry{kBase + 2000, kCreate, 8, MemoryCategory::kActivation},
                                     MemoryEntry{kBase + 4000, kChange, -8, MemoryCategory::kActivation},
                                     MemoryEntry{kBase + 4000, kChange, 8, MemoryCategory::kGradient}));
  EXPECT_EQ(m.peak, 8);
  EXPECT_EQ(m.category_peaks[4], 8);
  EXPECT_EQ(m.category_peaks[5], 8);
}

TEST(MemoryTimeline, WhatExistedBeforeComesFirstAtTheTimeOfTheFirstEntry) {
  Timed t;
  t.maker.builder().recording().memory_baselines = {{{}, 700, 1000}};
  t.report(50, 0xB, 300, {}, 1000);  // reported before the start
  t.tag(60, 0xB, MemoryCategory::kOptimizerState);
  t.tag(1500, 0xA, MemoryCategory::kInput);
  t.report(2000, 0xA, -200);  // freed without having been allocated
  const MemoryTimeline m = t.timeline();
  EXPECT_THAT(m.entries, ElementsAre(MemoryEntry{-1, kBefore, 500, MemoryCategory::kUnknown},
                                     MemoryEntry{-1, kBefore, 300, MemoryCategory::kOptimizerState},
                                     MemoryEntry{-1, kBefore, 200, MemoryCategory::kInput},
                                     MemoryEntry{kBase + 2000, kDestroy, -200, MemoryCategory::kInput}));
  EXPECT_THAT(m.times_us, ElementsAre(kBase / 1000 + 2, kBase / 1000 + 2));
  EXPECT_THAT(m.sizes, ElementsAre(Row{0, 0, 300, 200, 0, 0, 0, 0, 500}, Row{0, 0, 300, 0, 0, 0, 0, 0, 500}));
  EXPECT_EQ(m.peak, 1000);
}

// A ring has dropped the reports of what was allocated after its start and before its window.
TEST(MemoryTimeline, WhatExistedBeforeIsWhatTheFirstReportSaysAndNotAnOlderBaseline) {
  Timed t;
  t.maker.builder().recording().memory_baselines = {{{}, 1000, 1000}};
  t.report(2000, 0xA, 8, {}, 5008);
  const MemoryTimeline m = t.timeline();
  EXPECT_EQ(m.entries.front(), (MemoryEntry{-1, kBefore, 5000, MemoryCategory::kUnknown}));
  EXPECT_EQ(m.peak, 5008);
}

TEST(MemoryTimeline, WhatIsHeldOnlyWithinAMicrosecondHasARowOfItsOwn) {
  Timed t;
  t.report(2000, 0xA, 8);
  t.report(5100, 0xB, 16);
  t.report(5200, 0xC, 32);  // the most
  t.report(5300, 0xA, -8);
  t.report(5400, 0xB, -16);
  t.report(7100, 0xD, 4);
  t.report(7200, 0xE, 2);  // the microsecond ends with its most
  t.report(9100, 0xD, -4);
  t.report(9200, 0xE, -2);  // and this one begins with it
  const MemoryTimeline m = t.timeline();
  const auto unknown = [](std::int64_t bytes) { return Row{0, 0, 0, 0, 0, 0, 0, 0, bytes}; };
  const std::int64_t us = kBase / 1000;
  EXPECT_THAT(m.times_us, ElementsAre(us + 2, us + 5, us + 5, us + 7, us + 9));
  EXPECT_THAT(m.sizes, ElementsAre(unknown(8), unknown(56), unknown(32), unknown(38), unknown(32)));
  EXPECT_EQ(m.peak, 56);
  EXPECT_EQ(m.peak_unix_ns, kBase + 5200);
}

TEST(MemoryTimeline, DevicesAreSeparate) {
  Timed t;
  t.report(2000, 0xA, 8);
  t.report(3000, 0xB, 16, kNpu0);
  const MemoryTimeline npu = t.timeline(kNpu0);
  EXPECT_EQ(npu.entries.size(), 1u);
  EXPECT_EQ(npu.peak, 16);
  EXPECT_THAT(memory_devices(t.recording), ElementsAre(trace::Device{}, kNpu0));
  EXPECT_THAT(memory_timeline(Analysis(t.recording), {trace::DeviceType::kCuda, 0}).entries, IsEmpty());
}

TEST(MemoryTimeline, ALostReleaseDoesNotHoldMemoryForEver) {
  Timed t;
  t.report(2000, 0xA, 8);
  t.report(3000, 0xA, 32);
  const MemoryTimeline m = t.timeline();
  EXPECT_EQ(m.entries.size(), 3u);
  EXPECT_EQ(m.sizes.back()[8], 32);
  EXPECT_EQ(m.peak, 32);
}

TEST(MemoryTimeline, WithoutTagsCategoriesAreGuessed) {
  Timed t;
  t.maker.op("aten::mm", 2000, 1000);
  t.report(2100, 0xA, 8);
  t.report(2200, 0xB, 16);
  t.report(2900, 0xA, -8);
  const MemoryTimeline m = t.timeline();
  EXPECT_EQ(m.entries[0].category, MemoryCategory::kTemporary);
  EXPECT_EQ(m.entries[1].category, MemoryCategory::kActivation);
}

TEST(MemoryTimeline, RandomReportsNeverMakeACategoryNegativeAndAddUp) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    Timed t;
    std::map<std::uint64_t, std::int64_t> live;
    std::int64_t time = 1000;
    for (int i = 0; i < 300; ++i, time += static_cast<std::int64_t>(random() % 700)) {
      const std::uint64_t address = random() % 20;
      if (live.contains(address)) {
        t.report(time, address, -live[address]);
        live.erase(address);
      } else {
        live[address] = 1 + random() % 100;
        t.report(time, address, live[address]);
      }
      if (random() % 3 == 0) t.tag(time, random() % 20, static_cast<MemoryCategory>(random() % 8));
    }
    const std::int64_t left =
        std::accumulate(live.begin(), live.end(), std::int64_t{0}, [](std::int64_t sum, const auto& block) { return sum + block.second; });
    const MemoryTimeline m = t.timeline();
    EXPECT_TRUE(std::ranges::is_sorted(m.times_us));
    const auto total = [](const Row& row) { return std::accumulate(row.begin(), row.end(), std::int64_t{0}); };
    for (const Row& row : m.sizes) EXPECT_GE(*std::ranges::min_element(row), 0);
    EXPECT_EQ(total(m.sizes.back()), left);
    EXPECT_EQ(total(*std::ranges::max_element(m.sizes, {}, total)), m.peak);
    for (std::size_t c = 0; c < 8; ++c) EXPECT_LE(m.category_peaks[c], m.peak);
  }
}

}  // namespace
}  // namespace mindtorch::analyze
