// Timeline view: which steps are drawn, and which slices.
#include "mindtorch/analyze/report/timeline_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;
using testing::Field;
using trace::EventKind;

TEST(TimelineView, ShowsATypicalStepTheSlowestAndTheFirst) {
  Maker maker;
  const std::int64_t lengths[] = {80, 100, 101, 102, 900};
  std::int64_t now = 0;
  for (int step = 0; step < 5; ++step) {
    maker.step(step, now, lengths[step]);
    maker.op("aten::mm", now + 5, 50);
    now += lengths[step];
  }
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const std::vector<TimelineView> views = timeline_views(analysis, Phases(analysis));
  EXPECT_THAT(views, ElementsAre(Field(&TimelineView::title, "Step 2, typical"), Field(&TimelineView::title, "Step 4, slowest"),
                                 Field(&TimelineView::title, "Step 0, first")));
  EXPECT_EQ(views[0].slices.size(), 1U);
}

TEST(TimelineView, SlicesHaveDepthsAndDeviceSlicesTheirLaunch) {
  Maker maker;
  maker.op("aten::linear", 0, 100);
  maker.op("aten::mm", 10, 50);
  maker.launch(20, 5, 1);
  maker.kernel("gemm", 200, 50, 1);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const std::vector<TimelineView> views = timeline_views(analysis, Phases(analysis));
  ASSERT_EQ(views.size(), 1U);
  ASSERT_EQ(views[0].slices.size(), 4U);
  EXPECT_EQ(views[0].slices[0].depth, 0U);
  EXPECT_EQ(views[0].slices[2].depth, 2U);
  EXPECT_EQ(views[0].slices[3].launched_by, 2);
  EXPECT_EQ(views[0].slices[0].launched_by, -1);
  ASSERT_EQ(views[0].tracks.size(), 2U);
  EXPECT_TRUE(views[0].tracks[1].is_device);
}

TEST(TimelineView, TheShortestSlicesAreLeftOutIfThereAreTooMany) {
  Maker maker;
  for (int k = 0; k < 100; ++k) maker.op("op", 1000 * k, 10 + k);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const std::vector<TimelineView> views = timeline_views(analysis, Phases(analysis), {.most_slices = 10});
  EXPECT_EQ(views[0].left_out, 90U);
  ASSERT_EQ(views[0].slices.size(), 10U);
  for (const TimelineSlice& slice : views[0].slices) EXPECT_GE(recording.events.duration_ns[slice.event], 100);
}

TEST(TimelineView, CountersBeginWithTheirValueAtTheStartAndKeepTheirPeaks) {
  Maker maker;
  maker.step(0, 0, 1000);
  maker.step(1, 1000, 1010);
  maker.memory(500, 64);
  for (int k = 1; k <= 100; ++k) maker.memory(1000 + 9 * k, k == 50 ? 1000 : k == 51 ? -1000 : 1);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const std::vector<TimelineView> views = timeline_views(analysis, Phases(analysis), {.most_points = 10});
  const auto second = std::ranges::find(views, 1000, &TimelineView::start_ns);
  ASSERT_NE(second, views.end());
  ASSERT_FALSE(second->counters.empty());
  const Counter& allocated = second->counters.front();
  EXPECT_EQ(allocated.times_ns.front(), 1000);
  EXPECT_EQ(allocated.values.front(), 64);
  EXPECT_EQ(allocated.values.size(), 11U);
  EXPECT_EQ(std::ranges::max(allocated.values), 64 + 49 + 1000);
}

}  // namespace
}  // namespace mindtorch::analyze
