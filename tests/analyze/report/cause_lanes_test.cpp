// Cause lanes: rows of a thread add up to the time of its steps.
#include "mindtorch/analyze/report/cause_lanes.h"

#include <gtest/gtest.h>

#include <numeric>

#include "mindtorch/analyze/report/ledger.h"
#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

TEST(CauseLanes, RowsAreWholeAndOtherThreadsOfOneNameAreOneLane) {
  Maker maker;
  for (int k = 0; k < 2; ++k) {
    maker.step(k, 1000 * k, 1000);
    for (int op = 0; op < 40; ++op) maker.op("aten::op" + std::to_string(op), 1000 * k + 20 * op, 10);
  }
  for (int worker = 0; worker < 3; ++worker) {
    const trace::TrackId track = maker.builder().add_thread(200 + worker, "pool-" + std::to_string(worker));
    maker.add({.name = "aten::mm", .track = track, .start_ns = 100, .duration_ns = 200});
  }
  maker.kernel("mm", 100, 500, 1);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Phases phases(analysis);
  const Ledger ledger(analysis, phases);
  const std::vector<CauseLane> lanes = cause_lanes(analysis, phases, ledger, 10);
  ASSERT_EQ(lanes.size(), 3U);
  EXPECT_TRUE(lanes[0].is_main);
  EXPECT_TRUE(lanes[1].is_device);
  EXPECT_EQ(lanes[2].name, "3 threads pool");
  for (const CauseLane& lane : lanes) {
    EXPECT_EQ(lane.ns_per_step, 1000) << lane.name;
    const double share =
        std::accumulate(lane.rows.begin(), lane.rows.end(), 0.0, [](double sum, const CauseRow& row) { return sum + row.share; });
    EXPECT_NEAR(share, 1, 1e-9) << lane.name;
  }
  EXPECT_EQ(lanes[0].rows[0].cause, cause_name(Cause::kUnknown));
  EXPECT_EQ(lanes[0].rows[0].ns_per_step, 600);
}

TEST(CauseLanes, AnEmptyRecordingHasNone) {
  const trace::Recording recording;
  const Analysis analysis(recording);
  const Phases phases(analysis);
  EXPECT_TRUE(cause_lanes(analysis, phases, Ledger(analysis, phases)).empty());
}

}  // namespace
}  // namespace mindtorch::analyze
