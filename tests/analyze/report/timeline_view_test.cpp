// Timeline view: which steps are drawn, and which slices.
#include "mindtorch/analyze/report/timeline_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  const std::vector<TimelineView> views = timeline_views(analysis, Phases(analysis), 10);
  EXPECT_EQ(views[0].left_out, 90U);
  ASSERT_EQ(views[0].slices.size(), 10U);
  for (const TimelineSlice& slice : views[0].slices) EXPECT_GE(recording.events.duration_ns[slice.event], 100);
}

}  // namespace
}  // namespace mindtorch::analyze
