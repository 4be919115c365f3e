// Predictions: findings say what their remedies bring, also together, and a hidden cost brings nothing.
#include "mindtorch/analyze/replay/predictions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mindtorch/analyze/report/report.h"
#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

// Ten steps on the host alone: 20 ms of `loading`, 10 ms of a checkpoint, 70 ms of an op.
struct Host {
  std::int64_t loading = 20'000'000, zeros = 10'000'000, forward = 70'000'000;
  bool with_steps = true;

  trace::Recording recording() const {
    Maker maker;
    std::int64_t now = 0;
    for (int step = 0; step < 10; ++step) {
      const std::int64_t start = now;
      if (loading > 0) maker.scope("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", now, loading);
      now += loading;
      maker.op("aten::linear", now, forward);
      now += forward;
      if (zeros > 0) {
        maker.scope("Optimizer.zero_grad#SGD.zero_grad", now, zeros);
        maker.op("aten::zero_", now, zeros);
      }
      now += zeros;
      if (with_steps) maker.step(step, start, now - start);
    }
    return maker.finish();
  }
};

Report report_of(const trace::Recording& recording) { return make_report(Analysis(recording)); }

TEST(Predictions, FindingsSayWhatTheirRemediesBring) {
  const Report report = report_of(Host().recording());
  ASSERT_EQ(report.findings.size(), 2U);
  EXPECT_EQ(report.prediction.problem, "");
  EXPECT_EQ(report.prediction.step_ns, 100'000'000);
  EXPECT_EQ(report.prediction.replayed_ns, 100'000'000);
  EXPECT_EQ(report.prediction.base_ns, 100'000'000);
  EXPECT_EQ(report.findings[0].id, "waiting_for_data");
  EXPECT_EQ(report.findings[0].predicted_step_ns, 80'000'000);
  EXPECT_EQ(report.findings[1].id, "zeroed_gradients");
  EXPECT_EQ(report.findings[1].predicted_step_ns, 90'000'000);
  EXPECT_THAT(report.prediction.combined_ns, testing::ElementsAre(80'000'000, 70'000'000));
}

// Four workers of a loader cannot make a batch in less than a quarter of the time.
TEST(Predictions, WorkBesideTheStepsBoundsThem) {
  const Report report = report_of(Host{.loading = 800'000'000, .zeros = 0}.recording());
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].predicted_step_ns, 200'000'000);
}

TEST(Predictions, WithoutStepsNothingIsPredictedAndFindingsKeepTheirCosts) {
  Maker maker;
  maker.scope("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 900'000);
  maker.op("aten::linear", 900'000, 100'000);
  const Report report = report_of(maker.finish());
  ASSERT_EQ(report.findings.size(), 1U);
  EXPECT_EQ(report.findings[0].predicted_step_ns, std::nullopt);
  EXPECT_GT(report.findings[0].cost_ns, 0);
  EXPECT_EQ(report.prediction.problem, "the recording has no steps");
  EXPECT_THAT(report.prediction.combined_ns, testing::IsEmpty());
}

TEST(Predictions, TheProfilersOwnCostIsNotPartOfThem) {
  Maker maker;
  for (std::int64_t step = 0; step < 10; ++step) {
    const std::int64_t at = step * 100'000;
    maker.step(step, at, 100'000);
    maker.scope("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at, 30'000);
    maker.op("aten::linear", at + 30'000, 60'000);
    maker.op("Buffer Flush", at + 90'000, 10'000, trace::EventKind::kOverhead);
  }
  const Report report = report_of(maker.finish());
  EXPECT_EQ(report.prediction.step_ns, 100'000);
  EXPECT_EQ(report.prediction.base_ns, 90'000);
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].predicted_step_ns, 60'000);
}

// Recording added a quarter of the time without it, in equal parts to each of the nine calls of a step.
TEST(Predictions, TheMeasuredCostOfRecordingIsNotPartOfThem) {
  Maker maker;
  for (std::int64_t step = 0; step < 10; ++step) {
    const std::int64_t at = step * 100'000;
    maker.step(step, at, 100'000);
    maker.scope("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at, 20'000);
    for (std::int64_t k = 0; k < 8; ++k) maker.op("aten::linear", at + 20'000 + k * 10'000, 10'000);
  }
  trace::Recording recording = maker.finish();
  recording.metadata["mtprof_run"] = R"({"cost_share": 0.25, "options": {}})";
  const Report report = report_of(recording);
  EXPECT_EQ(report.prediction.step_ns, 100'000);
  EXPECT_NEAR(static_cast<double>(report.prediction.base_ns), 80'000, 100);
  ASSERT_FALSE(report.findings.empty());
  // The loader's own time has a ninth of the cost, and the ops keep theirs off.
  EXPECT_NEAR(static_cast<double>(*report.findings[0].predicted_step_ns), 80'000 - (20'000 - 20'000.0 / 9), 100);
}

// Kernels in float32 run while the host launches the next ones: `kernel` of the time between two launches.
Report float32_program(double kernel) {
  Maker maker;
  std::uint64_t correlation = 0;
  constexpr std::int64_t kOp = 100'000;
  std::int64_t now = 0, free = 0;
  for (int step = 0; step < 10; ++step) {
    const std::int64_t start = now;
    for (int k = 0; k < 20; ++k) {
      maker.op("aten::mm", now, kOp - 1'000);
      maker.launch(now + 90'000, 5'000, ++correlation);
      const std::int64_t begin = std::max(now + 96'000, free + 1'000);
      free = begin + static_cast<std::int64_t>(kernel * static_cast<double>(kOp));
      maker.kernel("ampere_sgemm_128x64_tn", begin, free - begin, correlation);
      now += kOp;
    }
    const std::int64_t wait = now;
    now = std::max(now + 2'000, free + 2'000);
    maker.op("aclrtSynchronizeStream", wait, now - wait, trace::EventKind::kRuntime, ++correlation);
    maker.step(step, start, now - start);
  }
  return report_of(maker.finish());
}

const Finding* find(const Report& report, std::string_view id) {
  const auto found = std::ranges::find(report.findings, id, &Finding::id);
  return found == report.findings.end() ? nullptr : &*found;
}

TEST(Predictions, ACostThatTheHostHidesBringsNothing) {
  const Report bound_by_host = float32_program(0.3);
  const Finding* finding = find(bound_by_host, "float32_matmuls");
  ASSERT_NE(finding, nullptr);
  EXPECT_GT(finding->share, 0.25);
  ASSERT_TRUE(finding->predicted_step_ns);
  // Only the last kernel of a step is not hidden.
  EXPECT_LT(static_cast<double>(bound_by_host.prediction.base_ns - *finding->predicted_step_ns),
            0.02 * static_cast<double>(bound_by_host.prediction.base_ns));

  const Report bound_by_device = float32_program(3);
  const Finding* large = find(bound_by_device, "float32_matmuls");
  ASSERT_NE(large, nullptr);
  EXPECT_LT(*large->predicted_step_ns, bound_by_device.prediction.base_ns / 2);
  EXPECT_GT(*large->predicted_step_ns, bound_by_device.prediction.base_ns / 4);
}

TEST(Predictions, NoGainIsToldApart) {
  const StepPrediction prediction{.step_ns = 1'000, .replayed_ns = 1'000, .base_ns = 1'000};
  EXPECT_TRUE(prediction.is_without_gain(1'000));
  EXPECT_TRUE(prediction.is_without_gain(991));
  EXPECT_FALSE(prediction.is_without_gain(990));
}

}  // namespace
}  // namespace mindtorch::analyze
