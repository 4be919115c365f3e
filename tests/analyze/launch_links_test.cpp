// LaunchLinks: device work reaches the op that launched it, and only once.
#include "mindtorch/analyze/launch_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mindtorch/analyze/analysis.h"
#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(LaunchLinks, WorkBelongsToTheInnermostOpAroundItsLaunch) {
  Maker maker;
  const auto linear = maker.op("aten::linear", 0, 100);
  const auto addmm = maker.op("aten::addmm", 10, 50);
  const auto launch = maker.launch(20, 10, 5);
  maker.op("cuLaunchKernel", 22, 5, trace::EventKind::kDriver, 6);
  const auto gemm = maker.kernel("gemm", 300, 40, 5);
  const auto inner = maker.kernel("by the driver call", 350, 7, 6);
  const auto copy = maker.kernel("copy", 400, 9, 5, trace::EventKind::kMemcpy);
  const trace::Recording recording = maker.finish();
  const auto& at = maker.new_index();
  const Analysis analysis(recording);
  const LaunchLinks& links = analysis.launches();
  EXPECT_EQ(links.launch_of(at[gemm]), at[launch]);
  EXPECT_EQ(links.host_of(at[gemm]), at[addmm]);
  EXPECT_EQ(links.host_of(at[inner]), at[addmm]);
  EXPECT_THAT(links.activities_of(at[addmm]), ElementsAre(at[gemm], at[inner], at[copy]));
  EXPECT_THAT(links.activities_of(at[launch]), IsEmpty());
  EXPECT_EQ(links.self_ns(at[addmm]), 56);
  EXPECT_EQ(links.self_ns(at[linear]), 0);
  EXPECT_EQ(links.total_ns(at[linear]), 56);
  EXPECT_EQ(links.total_ns(at[launch]), 0);
}

TEST(LaunchLinks, WaitsAndSpansAreLinkedButAreNoWork) {
  Maker maker;
  const auto scope = maker.op("scope", 0, 120, trace::EventKind::kScope);
  const auto op = maker.op("op", 0, 100);
  maker.launch(10, 5, 1);
  const auto wait = maker.kernel("wait", 200, 50, 1, trace::EventKind::kSync);
  const auto span = maker.kernel("scope", 200, 90, 1, trace::EventKind::kDeviceScope);
  const trace::Recording recording = maker.finish();
  const auto& at = maker.new_index();
  const Analysis analysis(recording);
  EXPECT_EQ(analysis.launches().host_of(at[wait]), at[op]);
  EXPECT_EQ(analysis.launches().host_of(at[span]), at[scope]) << "a span belongs to the scope that it shows";
  EXPECT_EQ(analysis.launches().total_ns(at[op]), 0);
}

TEST(LaunchLinks, WorkWithoutALaunchOrOutsideOfAnyOpBelongsToNobody) {
  Maker maker;
  maker.launch(10, 5, 1);
  const auto alone = maker.kernel("launched outside", 100, 5, 1);
  const auto unseen = maker.kernel("launch not seen", 110, 5, 2);
  const auto unlinked = maker.kernel("no correlation", 120, 5, 0);
  const trace::Recording recording = maker.finish();
  const auto& at = maker.new_index();
  const Analysis analysis(recording);
  EXPECT_NE(analysis.launches().launch_of(at[alone]), kNoEvent);
  EXPECT_EQ(analysis.launches().host_of(at[alone]), kNoEvent);
  EXPECT_EQ(analysis.launches().launch_of(at[unseen]), kNoEvent);
  EXPECT_EQ(analysis.launches().launch_of(at[unlinked]), kNoEvent);
}

TEST(LaunchLinks, ScatteredCorrelationsAreFoundTooAndTheFirstLaunchCounts) {
  Maker maker;
  const auto op = maker.op("op", 0, 100);
  const auto first = maker.launch(10, 1, 1ull << 60);
  maker.launch(20, 1, 1ull << 60);
  const auto small = maker.launch(30, 1, 3);
  const auto big_kernel = maker.kernel("big", 200, 5, 1ull << 60);
  const auto small_kernel = maker.kernel("small", 210, 5, 3);
  const auto unseen = maker.kernel("unseen", 220, 5, 4);
  const trace::Recording recording = maker.finish();
  const auto& at = maker.new_index();
  const Analysis analysis(recording);
  EXPECT_EQ(analysis.launches().launch_of(at[big_kernel]), at[first]);
  EXPECT_EQ(analysis.launches().launch_of(at[small_kernel]), at[small]);
  EXPECT_EQ(analysis.launches().launch_of(at[unseen]), kNoEvent);
  EXPECT_EQ(analysis.launches().total_ns(at[op]), 10);
}

TEST(LaunchLinks, WorkOfAMergedCallIsLiftedAndNothingIsLost) {
  Maker maker;
  const auto outer = maker.op("aten::to", 0, 100);
  maker.op("aten::to", 10, 50);
  maker.launch(20, 5, 1);
  maker.launch(70, 5, 2);  // in the outer call only: merging did not make it the only child
  maker.kernel("a", 200, 10, 1);
  maker.kernel("b", 210, 20, 2);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_EQ(analysis.launches().total_ns(maker.new_index()[outer]), 30);

  Maker merging;
  const auto top = merging.op("aten::to", 0, 100);
  merging.op("aten::to", 10, 50);
  merging.launch(20, 5, 1);
  merging.kernel("a", 200, 10, 1);
  const trace::Recording merged = merging.finish();
  const Analysis merged_analysis(merged);
  EXPECT_EQ(merged_analysis.launches().self_ns(merging.new_index()[top]), 10);
}

TEST(LaunchLinks, ARecordingWithoutDeviceActivitiesCostsNothing) {
  Maker maker;
  maker.op("op", 0, 10);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_TRUE(analysis.launches().empty());
  EXPECT_EQ(analysis.launches().total_ns(0), 0);
  EXPECT_EQ(analysis.launches().launch_of(0), kNoEvent);
}

TEST(LaunchLinks, TotalsOfRootsAddUpToAllLinkedWork) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    Maker maker;
    std::int64_t expected = 0;
    for (int i = 0; i < 40; ++i) maker.op("op" + std::to_string(random() % 4), random() % 200, random() % 90);
    maker.op("root", 0, 1000);
    for (std::uint64_t correlation = 1; correlation < 20; ++correlation) {
      maker.launch(random() % 900, 1, correlation);
      const std::int64_t duration = random() % 50;
      maker.kernel("k", 2000 + static_cast<std::int64_t>(correlation) * 60, duration, correlation);
      expected += duration;
    }
    const trace::Recording recording = maker.finish();
    const Analysis analysis(recording);
    std::int64_t roots = 0, self = 0;
    for (EventIndex i = 0; i < recording.events.size(); ++i) {
      if (!analysis.tree().is_node(i)) continue;
      self += analysis.launches().self_ns(i);
      if (analysis.tree().parent(i) == kNoEvent) roots += analysis.launches().total_ns(i);
    }
    EXPECT_EQ(roots, expected);
    EXPECT_EQ(self, expected);
  }
}

}  // namespace
}  // namespace mindtorch::analyze
