// Memory view: thinned out without losing the peak, and who holds the memory then.
#include "mindtorch/analyze/report/memory_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(MemoryView, HoldersAreTheOpsWhoseBlocksAreAliveAtThePeak) {
  Maker maker;
  maker.op("aten::empty", 0, 100);
  maker.memory(10, 1000, {}, 1);
  maker.op("aten::mm", 200, 100);
  maker.memory(210, 5000, {}, 2);
  maker.memory(250, -5000, {}, 2);
  maker.memory(260, 3000, {}, 3);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const std::vector<MemoryView> views = memory_views(analysis);
  ASSERT_EQ(views.size(), 1U);
  EXPECT_EQ(views[0].peak, 6000);
  EXPECT_EQ(views[0].allocations, 3);
  EXPECT_EQ(views[0].allocated, 9000);
  EXPECT_THAT(views[0].holders, ElementsAre(MemoryHolder{"aten::mm", 5000, 1}, MemoryHolder{"aten::empty", 1000, 1}));
}

TEST(MemoryView, APictureOfManyReportsStillShowsThePeak) {
  Maker maker;
  maker.op("aten::empty", 0, 10'000'000);
  for (int k = 0; k < 5000; ++k) {
    const std::int64_t bytes = k == 3210 ? 1 << 20 : 16;
    maker.memory(2000 * k, bytes, {}, 1);
    maker.memory(2000 * k + 1000, -bytes, {}, 1);
  }
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const std::vector<MemoryView> views = memory_views(analysis, 50);
  ASSERT_EQ(views.size(), 1U);
  EXPECT_LE(views[0].times_ns.size(), 50U);
  std::int64_t highest = 0;
  for (const auto& row : views[0].bytes) highest = std::max(highest, std::accumulate(row.begin(), row.end(), std::int64_t{0}));
  EXPECT_EQ(highest, 1 << 20);
}

TEST(MemoryView, MemoryFromBeforeTheRecordingCountsIfTheReportsTellIt) {
  Maker maker;
  maker.op("aten::mm", 0, 10'000);
  maker.builder().add_memory(2000, maker.thread(), {}, 1, 500, 70'500, 80'000);
  maker.builder().add_memory(5000, maker.thread(), {}, 2, 300, 70'800, 80'000);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const std::vector<MemoryView> views = memory_views(analysis);
  ASSERT_EQ(views.size(), 1U);
  EXPECT_EQ(views[0].peak, 70'800);
  EXPECT_EQ(views[0].holders.front(), (MemoryHolder{"allocated before the recording", 70'000, 0}));
}

TEST(MemoryView, ARecordingWithoutReportsHasNone) {
  Maker maker;
  maker.op("aten::mm", 0, 10);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_THAT(memory_views(analysis), IsEmpty());
}

}  // namespace
}  // namespace mindtorch::analyze
