// Ledger: all time of the judged steps is in one cell each, and is claimed once.
#include "mindtorch/analyze/report/ledger.h"

#include <gtest/gtest.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

std::int64_t time_of(const Ledger& ledger, const std::function<bool(const Cell&)>& is_meant) { return ledger.free(is_meant).ns; }

TEST(Ledger, AMomentOfABusyDeviceIsTheDevicesAndOfAnIdleOneTheHosts) {
  Maker maker;
  maker.step(0, 0, 1000);
  maker.scope("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 400);
  maker.op("aten::mm", 400, 300);
  maker.launch(410, 5, 1);
  maker.kernel("mm", 500, 400, 1);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Phases phases(analysis);
  const Ledger ledger(analysis, phases);
  EXPECT_EQ(ledger.total_ns(), 1000);
  EXPECT_EQ(time_of(ledger, [](const Cell& cell) { return cell.device == DevicePhase::kCompute; }), 400);
  EXPECT_EQ(time_of(ledger, [](const Cell& cell) { return !cell.is_on_device() && cell.cause == Cause::kLoading; }), 400);
  EXPECT_EQ(time_of(ledger, [](const Cell& cell) { return !cell.is_on_device() && cell.cause == Cause::kForward; }), 100);
  EXPECT_EQ(time_of(ledger, [](const Cell& cell) { return !cell.is_on_device() && cell.cause == Cause::kUnknown; }), 100);
}

TEST(Ledger, TheFirstOfManyStepsIsNotJudgedAndTimeBetweenStepsIs) {
  Maker maker;
  for (int k = 0; k < 5; ++k) maker.step(k, 120 * k, 100);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Phases phases(analysis);
  const Ledger ledger(analysis, phases);
  EXPECT_EQ(ledger.steps(), 4U);
  EXPECT_EQ(ledger.total_ns(), 4 * 100 + 3 * 20);
  EXPECT_FALSE(ledger.is_judged(50));
  EXPECT_TRUE(ledger.is_judged(130));
  EXPECT_EQ(time_of(ledger, [](const Cell& cell) { return cell.is_between_steps; }), 60);
}

TEST(Ledger, TimeIsClaimedOnce) {
  Maker maker;
  maker.step(0, 0, 1000);
  maker.op("aten::mm", 0, 1000);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Phases phases(analysis);
  Ledger ledger(analysis, phases);
  const auto all = [](const Cell&) { return true; };
  ledger.take(ledger.free(all, 300));
  EXPECT_EQ(ledger.free(all).ns, 700);
  ledger.take(ledger.free(all));
  EXPECT_EQ(ledger.free(all).ns, 0);
}

TEST(Ledger, TheTimeOfAnyRecordingIsWhole) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const trace::Recording recording = random_recording(seed, 200);
    const Analysis analysis(recording);
    const Phases phases(analysis);
    const Ledger ledger(analysis, phases);
    std::int64_t judged = 0;
    for (std::size_t k = phases.steps().size() > 3 ? 1 : 0; k < phases.steps().size(); ++k) judged += phases.steps()[k].duration_ns;
    std::int64_t between = ledger.free([](const Cell& cell) { return cell.is_between_steps; }).ns;
    EXPECT_EQ(ledger.total_ns() - between, judged) << "seed " << seed;
  }
}

}  // namespace
}  // namespace mindtorch::analyze
