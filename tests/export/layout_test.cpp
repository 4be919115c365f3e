// Layout: ids that viewers can show, and rows in which everything nests.
#include "mindtorch/export/layout.h"

#include <gmock/gmock.h>

#include <random>
#include <set>

#include "mindtorch/trace/builder.h"
#include "tests/support/sample_recordings.h"

namespace mindtorch::exporter {
namespace {

using trace::DeviceType;
using trace::EventKind;
using trace::RecordingBuilder;

// True if the events of each row nest.
bool rows_nest(const trace::Recording& recording, const Layout& layout) {
  std::vector<std::vector<std::int64_t>> open(layout.rows.size());
  RowOfEvent row_of(layout);
  for (trace::TrackId t = 0; t < recording.tracks.size(); ++t) {
    for (trace::EventIndex i = recording.tracks[t].first_event; i < recording.tracks[t].first_event + recording.tracks[t].event_count;
         ++i) {
      auto& ends = open[row_of(t, i)];
      while (!ends.empty() && ends.back() <= recording.events.start_ns[i]) ends.pop_back();
      if (!ends.empty() && ends.back() < recording.events.end_ns(i)) return false;
      ends.push_back(recording.events.end_ns(i));
    }
  }
  return true;
}

TEST(Layout, IdsArePositiveSmallAndUniqueWhateverTheTracksAreCalled) {
  RecordingBuilder builder;
  builder.add_thread(139785213720320, "pthread id", 1);
  builder.add_thread(5, "", 1);
  builder.add_thread(-3, "", 1);
  builder.add_stream({DeviceType::kCuda, 0}, 0, "", 1);
  builder.add_stream({DeviceType::kCuda, 0}, 7, "", 1);
  builder.add_stream({DeviceType::kCuda, 1}, 7, "", 1);
  builder.add_stream({DeviceType::kNpu, 1}, 7, "", 1);
  const Layout layout = make_layout(builder.finish());
  std::set<std::int64_t> pids;
  for (const Process& process : layout.processes) EXPECT_TRUE(pids.insert(process.pid).second) << process.name;
  EXPECT_EQ(layout.processes.size(), 4U);
  std::set<std::pair<std::int64_t, std::int64_t>> ids;
  for (const Row& row : layout.rows) {
    EXPECT_GE(row.tid, 1) << row.name;
    EXPECT_LT(row.tid, std::int64_t{1} << 32) << row.name;
    EXPECT_TRUE(ids.insert({row.process, row.tid}).second) << row.name;
  }
  EXPECT_EQ(layout.rows[0].name, "thread 139785213720320 (pthread id)");
  EXPECT_EQ(layout.rows[1].tid, 5);
  EXPECT_EQ(layout.rows[4].tid, 7);
}

TEST(Layout, AProcessHasTheNameOfItsFirstThread) {
  RecordingBuilder builder;
  builder.add_thread(12, "worker", 10);
  builder.add_thread(10, "python3", 10);
  builder.add_thread(21, "worker", 20);
  builder.add_thread(30, "", 30);
  const Layout layout = make_layout(builder.finish());
  std::vector<std::string> names;
  for (const Process& process : layout.processes) names.push_back(process.name);
  EXPECT_THAT(names, testing::ElementsAre("python3", "process 20", "process 30"));
}

TEST(Layout, AKernelThatOverlapsItsPredecessorMovesToALaneBelowItsStream) {
  const trace::Recording recording = tests::device_recording(DeviceType::kNpu);
  const Layout layout = make_layout(recording);
  ASSERT_EQ(layout.rows.size(), recording.tracks.size() + 1);
  EXPECT_EQ(layout.rows.back().name, "stream 7 (overlap)");
  EXPECT_EQ(layout.rows.back().process, layout.rows[1].process);
  ASSERT_EQ(layout.lane_events.size(), 3U);
  for (const LaneEvent& in_lane : layout.lane_events) EXPECT_EQ(recording.name(in_lane.event), "relu_kernel");
  EXPECT_TRUE(rows_nest(recording, layout));
}

TEST(Layout, EveryRowNestsForRandomIntervals) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    RecordingBuilder builder;
    const auto track = builder.add_stream({DeviceType::kNpu, 0}, 1);
    for (int i = 0; i < 200; ++i) {
      builder.add_event({.name = "k",
                         .kind = EventKind::kKernel,
                         .track = track,
                         .start_ns = static_cast<std::int64_t>(random() % 500),
                         .duration_ns = static_cast<std::int64_t>(random() % 60)});
    }
    const trace::Recording recording = builder.finish();
    const Layout layout = make_layout(recording);
    EXPECT_TRUE(rows_nest(recording, layout));
    EXPECT_GT(layout.rows.size(), 1U);
  }
}

TEST(Layout, EventsThatTouchOrShareAStartStayInOneRow) {
  RecordingBuilder builder;
  const auto track = builder.add_thread(1);
  for (const auto& [start, duration] :
       {std::pair(0, 10), std::pair(0, 10), std::pair(0, 4), std::pair(4, 6), std::pair(10, 5), std::pair(10, 0)}) {
    builder.add_event({.name = "op", .track = track, .start_ns = start, .duration_ns = duration});
  }
  EXPECT_TRUE(make_layout(builder.finish()).lane_events.empty());
}

}  // namespace
}  // namespace mindtorch::exporter
