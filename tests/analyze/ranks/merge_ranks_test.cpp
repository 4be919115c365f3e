// Recordings of several ranks in one.
#include "mindtorch/analyze/ranks/merge_ranks.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "mindtorch/trace/invariants.h"
#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

// Three steps with an op, its backward node and a collective; the clock is `offset_ns` ahead.
trace::Recording rank_recording(std::int64_t offset_ns, std::int64_t work_ns) {
  Maker maker;
  maker.builder().recording().clock.base_unix_ns = 1'000'000 + offset_ns;
  for (std::int64_t step = 0; step < 3; ++step) {
    const std::int64_t at = step * 1000;
    maker.step(step, at, 1000);
    maker.op("aten::mm", at + 10, work_ns, trace::EventKind::kOp, trace::make_sequence_link(step));
    maker.op("MmBackward0", at + 20 + work_ns, 20, trace::EventKind::kBackward, trace::make_sequence_link(step, 1));
    maker.scope("gloo:all_reduce", at + 100 + work_ns, 800 - work_ns);
  }
  return maker.finish();
}

class MergeRanksTest : public testing::Test {
 protected:
  void add(std::int64_t offset_ns, std::int64_t work_ns) {
    recordings_.push_back(rank_recording(offset_ns, work_ns));
    const auto rank = static_cast<std::int64_t>(recordings_.size() - 1);
    summaries_.push_back(summarize_rank(Analysis(recordings_.back()), {.rank = rank}));
  }
  trace::Recording merged(StepRange steps) {
    const Job job = reduce_ranks(summaries_);
    RankMerger merger(job, steps);
    for (std::size_t k = 0; k < recordings_.size(); ++k) merger.add(k, recordings_[k]);
    return merger.finish();
  }

  std::vector<trace::Recording> recordings_;
  std::vector<RankSummary> summaries_;
};

TEST_F(MergeRanksTest, ChosenStepsAreOnOneClock) {
  add(0, 300);
  add(5'000'000, 100);
  const trace::Recording recording = merged({1, 2});
  EXPECT_EQ(trace::check_invariants(recording), "");
  ASSERT_EQ(recording.tracks.size(), 2U);
  EXPECT_EQ(recording.tracks[1].pid, 1);
  EXPECT_EQ(recording.tracks[1].name, "rank 1");
  EXPECT_EQ(recording.events.size(), 2U * 2 * 4);
  std::map<std::int64_t, std::vector<std::int64_t>> ends;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    if (recording.name(i) == "gloo:all_reduce") ends[recording.events.end_ns(i)].push_back(i);
  }
  EXPECT_EQ(ends.size(), 2U) << "both ranks leave a collective at the same moment";
}

TEST_F(MergeRanksTest, PartsOfACollectiveHaveOneNumber) {
  add(0, 300);
  add(0, 100);
  const trace::Recording recording = merged({});
  std::map<std::int64_t, int> parts;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    for (const trace::Attribute& attribute : recording.attributes.find(i)) {
      if (recording.names[attribute.key] == kCollectiveFlowKey) ++parts[attribute.bits];
    }
  }
  EXPECT_EQ(parts, (std::map<std::int64_t, int>{{1, 2}, {2, 2}, {3, 2}}));
}

TEST_F(MergeRanksTest, LinksOfRanksDoNotMeet) {
  add(0, 300);
  add(0, 100);
  const trace::Recording recording = merged({});
  std::map<std::uint64_t, int> backward;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    if (recording.events.kind[i] != trace::EventKind::kBackward) continue;
    ++backward[recording.events.link[i]];
    EXPECT_EQ(trace::forward_thread_of(recording.events.link[i]), recording.tracks[recording.track_of(i)].number);
  }
  EXPECT_EQ(backward.size(), 6U);
}

TEST_F(MergeRanksTest, LaunchesOfManyRanksHaveSmallNumbersOfTheirOwn) {
  constexpr std::uint64_t kFirst = std::uint64_t{1} << 50;
  for (int rank = 0; rank < 40; ++rank) {
    Maker maker;
    maker.step(0, 0, 1000);
    for (std::uint64_t k = 0; k < 3; ++k) {
      const auto at = static_cast<std::int64_t>(100 * k);
      maker.op("cudaLaunchKernel", at, 10, trace::EventKind::kRuntime, kFirst + k);
    }
    recordings_.push_back(maker.finish());
    summaries_.push_back(summarize_rank(Analysis(recordings_.back()), {.rank = rank}));
  }
  const trace::Recording recording = merged({});
  std::set<std::uint64_t> links;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    if (recording.events.kind[i] == trace::EventKind::kRuntime) links.insert(recording.events.link[i]);
  }
  EXPECT_EQ(links.size(), 40U * 3);
  EXPECT_EQ(*links.rbegin(), 40U * 3);
}

}  // namespace
}  // namespace mindtorch::analyze
