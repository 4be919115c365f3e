// Events: torch's order over threads, streams and memory reports.
#include "mindtorch/analyze/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;

std::vector<std::string_view> names(const Events& events) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < events.size(); ++i) names.push_back(events[i].trace_name());
  return names;
}

TEST(Events, ComeByStartLongerFirstOverAllTracks) {
  Maker maker;
  const trace::TrackId other = maker.builder().add_thread(200);
  maker.op("b", 10, 5);
  maker.add({.name = "a", .track = other, .start_ns = 10, .duration_ns = 9});
  maker.kernel("k", 3, 100, 0);
  maker.scope("inner", 50, 1);
  maker.scope("outer", 50, 2);
  maker.memory(30, 8);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_THAT(names(analysis.events()), ElementsAre("k", "a", "b", "[memory]", "outer", "inner"));
}

TEST(Events, LeaveOutMergedCallsHiddenNamesAndInstantsButListPythonFrames) {
  Maker maker;
  maker.op("aten::to", 0, 50);
  maker.op("aten::to", 10, 20);
  maker.op("aten::_version", 60, 5);
  maker.op("mark", 65, 0, trace::EventKind::kInstant);
  maker.op("train.py(1): f", 70, 5, trace::EventKind::kPythonFunction);
  maker.add({.name = "async", .start_ns = 80, .duration_ns = 5, .flags = trace::kAsync});
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_THAT(names(analysis.events()), ElementsAre("aten::to", "train.py(1): f", "async"));
}

TEST(Events, AnEmptyRecordingHasNone) {
  const trace::Recording recording;
  const Analysis analysis(recording);
  EXPECT_TRUE(analysis.events().empty());
  EXPECT_EQ(analysis.events().table(), "");
}

TEST(Events, RandomRecordingsAreSortedAndComplete) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const trace::Recording recording = random_recording(seed, 150, 5);
    const Analysis analysis(recording);
    const Events& events = analysis.events();
    std::size_t listed = 0;
    for (EventIndex i = 0; i < recording.events.size(); ++i) listed += analysis.tree().is_listed(i);
    ASSERT_EQ(events.size(), listed);
    for (std::size_t i = 1; i < events.size(); ++i) {
      const auto key = [&](std::size_t at) { return std::tuple(events[at].start_ns(), -events[at].end_ns(), events[at].id()); };
      ASSERT_LT(key(i - 1), key(i));
    }
  }
}

}  // namespace
}  // namespace mindtorch::analyze
