// Limits: what is exceeded, what is not, and what cannot be told.
#include "mindtorch/analyze/diff/limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mindtorch/base/error.h"
#include "tests/analyze/diff/runs.h"

namespace mindtorch::analyze {
namespace {

using Outcome = Verdict::Outcome;
using testing::HasSubstr;

Outcome check_one(const StepProfile& baseline, const StepProfile& run, std::string_view limit) {
  const std::vector<Limit> limits = {parse_limit(limit)};
  return check_limits(baseline, run, limits).at(0).outcome;
}

TEST(Limits, AreReadWithTheirMetricAndShare) {
  EXPECT_EQ(parse_limit("step_time=+3%").metric, "step_time");
  EXPECT_DOUBLE_EQ(parse_limit("step_time=+3%").share, 0.03);
  EXPECT_DOUBLE_EQ(parse_limit("peak_memory=-2.5%").share, -0.025);
  EXPECT_EQ(parse_limit("op:a=b=10%").metric, "op:a=b");
}

TEST(Limits, ThatMakeNoSenseAreRefused) {
  for (const char* text :
       {"", "step_time", "step_time=", "step_time=3", "step_time=x%", "step_time=nan%", "steptime=3%", "op:=3%", "calls:=3%"})
    EXPECT_THROW(parse_limit(text), InvalidArgument) << text;
}

TEST(Limits, NoiseExceedsNoneInAThousandComparisonsOfEqualRuns) {
  const std::vector<Limit> limits = {parse_limit("step_time=+0%"), parse_limit("op:op07=+0%")};
  for (const Noise& noise : {Noise{}, Noise{.spread = 0.1, .correlation = 0.5}, Noise{.spread = 0.03, .outlier_share = 0.1}}) {
    std::mt19937_64 random(21);
    int failed = 0;
    for (int trial = 0; trial < 1000; ++trial) {
      const auto verdicts = check_limits(noisy_run(random, 20, noise), noisy_run(random, 20, noise), limits);
      failed += std::ranges::count(verdicts, Outcome::kExceeded, &Verdict::outcome) > 0;
    }
    EXPECT_LE(failed, 10) << "spread " << noise.spread << ", correlation " << noise.correlation;
  }
}

TEST(Limits, AnIncreaseAboveTheLimitIsFound) {
  std::mt19937_64 random(22);
  const StepProfile baseline = noisy_run(random, 30, {}), run = noisy_run(random, 30, {}, 1.5);
  EXPECT_EQ(check_one(baseline, run, "op:op07=+10%"), Outcome::kExceeded);
  EXPECT_EQ(check_one(baseline, run, "op:op07=+100%"), Outcome::kWithin);
  EXPECT_EQ(check_one(baseline, run, "op:op08=+10%"), Outcome::kWithin);
}

TEST(Limits, AFewStepsCannotTell) {
  StepProfile baseline, run;
  baseline.step_time = {100, 101};
  run.step_time = {150, 151};
  EXPECT_EQ(check_one(baseline, run, "step_time=+3%"), Outcome::kUnclear);
  EXPECT_EQ(check_one(run, baseline, "step_time=+3%"), Outcome::kUnclear);  // a decrease is as uncertain
}

TEST(Limits, PeaksAreComparedPerDevice) {
  StepProfile baseline, run;
  const trace::Device cuda{trace::DeviceType::kCuda, 0};
  baseline.peaks = {{trace::Device{}, 1000}, {cuda, 1000}};
  run.peaks = {{trace::Device{}, 1000}, {cuda, 1100}};
  const std::vector<Limit> limits = {parse_limit("peak_memory=+5%")};
  const auto verdicts = check_limits(baseline, run, limits);
  ASSERT_EQ(verdicts.size(), 2u);
  EXPECT_EQ(verdicts[0].outcome, Outcome::kWithin);
  EXPECT_EQ(verdicts[1].outcome, Outcome::kExceeded);
  EXPECT_EQ(verdicts[1].subject, "peak_memory of CUDA:0");
  EXPECT_THAT(verdicts[1].text(), HasSubstr("+10.0%"));
}

TEST(Limits, OfWorkThatNeitherRunHasAreRefused) {
  std::mt19937_64 random(23);
  const StepProfile run = noisy_run(random, 10, {});
  EXPECT_THROW(check_one(run, run, "op:aten::mm=+3%"), InvalidArgument);
  EXPECT_THROW(check_one(run, run, "peak_memory=+3%"), InvalidArgument);
}

TEST(Limits, NewWorkExceedsAnyLimit) {
  std::mt19937_64 random(24);
  StepProfile baseline = noisy_run(random, 20, {});
  const StepProfile run = noisy_run(random, 20, {});
  std::erase_if(baseline.rows, [](const WorkRow& row) { return row.key.name == "op07"; });
  EXPECT_EQ(check_one(baseline, run, "op:op07=+1000%"), Outcome::kExceeded);
  EXPECT_EQ(check_one(baseline, run, "calls:op07=0%"), Outcome::kExceeded);
}

TEST(Limits, ALeastShareNeedsNoBaseline) {
  EXPECT_EQ(parse_least("mfu=40%").metric, "mfu");
  EXPECT_DOUBLE_EQ(parse_least("mfu=40%").share, 0.4);
  for (const char* text : {"", "mfu", "mfu=40", "step_time=3%"}) EXPECT_THROW(parse_least(text), InvalidArgument) << text;
  Efficiency efficiency;
  const std::vector<Limit> limits = {parse_least("mfu=40%"), parse_least("hfu=40%")};
  EXPECT_THROW(check_least(efficiency, limits), InvalidArgument);
  efficiency.mfu = 0.312;
  efficiency.hfu = 0.41;
  const auto verdicts = check_least(efficiency, limits);
  EXPECT_EQ(verdicts.at(0).outcome, Outcome::kExceeded);
  EXPECT_EQ(verdicts.at(0).text(), "mfu: 31.2%, at least 40% is asked for");
  EXPECT_EQ(verdicts.at(1).outcome, Outcome::kWithin);
}

}  // namespace
}  // namespace mindtorch::analyze
