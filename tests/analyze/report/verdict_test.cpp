// Verdict: it names the largest cause and its line, and gives no all-clear without a reason.
#include "mindtorch/analyze/report/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mindtorch/analyze/report/ledger.h"
#include "mindtorch/analyze/report/work_tables.h"
#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

Judgement verdict_of(const trace::Recording& recording) {
  const Analysis analysis(recording);
  const Phases phases(analysis);
  Ledger ledger(analysis, phases);
  const std::vector<Finding> findings = find_findings(analysis, phases, work_tables(analysis, phases), ledger);
  return find_verdict(analysis, phases, ledger, findings);
}

trace::Recording training(std::int64_t loading, std::int64_t forward) {
  Maker maker;
  for (int k = 0; k < 6; ++k) {
    const std::int64_t start = 1'000'000 * k;
    maker.step(k, start, 1'000'000);
    maker.stack(maker.scope("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", start, loading),
                {{"/home/me/train.py", 12, "main"}});
    maker.op("aten::linear", start + loading, forward);
  }
  return maker.finish();
}

TEST(Verdict, ItNamesTheLargestCauseWithItsLine) {
  const Judgement verdict = verdict_of(training(600'000, 390'000));
  EXPECT_EQ(verdict.level, Judgement::Level::kBad);
  EXPECT_EQ(verdict.text, "The loop waits for data: 600.000us of 1.000ms per step (60 %), train.py:12 in main");
  EXPECT_NEAR(verdict.explained_share, 0.99, 1e-6);
}

TEST(Verdict, NothingStandsOutOnlyIfTheTimeIsExplained) {
  const Judgement good = verdict_of(training(10'000, 980'000));
  EXPECT_EQ(good.level, Judgement::Level::kGood);
  EXPECT_THAT(good.text, StartsWith("Nothing stands out: 99 % of a step is explained (98 % forward"));
  const Judgement unknown = verdict_of(training(10'000, 690'000));
  EXPECT_EQ(unknown.level, Judgement::Level::kUnknown);
  EXPECT_THAT(unknown.text, StartsWith("300.000us of 1.000ms of each step (30 %) pass outside of ops"));
  EXPECT_THAT(unknown.next, HasSubstr("mtprof run"));
}

trace::Recording on_a_busy_machine(trace::Recording recording, const char* missing) {
  recording.metadata = {{"processors_own", "0.2"}, {"processors_others", "0.75"}, {"processors_missing", missing}};
  return recording;
}

TEST(Verdict, ABusyMachineIsTold) {
  EXPECT_THAT(verdict_of(on_a_busy_machine(training(600'000, 390'000), "0.3")).text,
              testing::EndsWith("train.py:12 in main; other programs had 75 % of the processors, and the time without one is left out"));
  const Judgement good = verdict_of(on_a_busy_machine(training(10'000, 980'000), "0.3"));
  EXPECT_EQ(good.level, Judgement::Level::kGood);
  EXPECT_THAT(good.text, HasSubstr("other programs had 75 % of the processors"));
}

// Ranks that wait for each other in some steps and not in others: no finding on a busy machine, and no all-clear.
TEST(Verdict, AWaitThatABusyMachineMayCauseIsNoAllClear) {
  Maker maker;
  for (int k = 0; k < 12; ++k) {
    const std::int64_t start = 1'000'000 * k, wait = k % 2 == 0 ? 900'000 : 10'000;
    maker.step(k, start, 1'000'000);
    maker.op("aten::linear", start, 990'000 - wait);
    maker.scope("gloo:all_reduce", start + 990'000 - wait, wait);
  }
  const Judgement verdict = verdict_of(on_a_busy_machine(maker.finish(), "0.3"));
  EXPECT_EQ(verdict.level, Judgement::Level::kUnknown);
  EXPECT_THAT(verdict.text,
              HasSubstr("of a step are collectives, and other programs, which had 75 % of the processors, may be the reason"));
}

TEST(Verdict, WhereLittleWasSeenThereIsNoAllClear) {
  const Judgement verdict = verdict_of(on_a_busy_machine(training(10'000, 980'000), "0.9"));
  EXPECT_EQ(verdict.level, Judgement::Level::kUnknown);
  EXPECT_THAT(verdict.text, StartsWith("The program was ready to run and waited for a processor for 90 % of the time"));
  EXPECT_THAT(verdict.next, HasSubstr("again"));
}

TEST(Verdict, MoreUnknownThanTheLargestFindingIsToldFirst) {
  const Judgement verdict = verdict_of(training(200'000, 300'000));
  EXPECT_EQ(verdict.level, Judgement::Level::kUnknown);
  EXPECT_THAT(verdict.text, HasSubstr("outside of ops"));
  EXPECT_THAT(verdict.text, HasSubstr("The loop waits for data"));
}

TEST(Verdict, ADamagedAnEmptyAndAShortRecordingSaySoFirst) {
  trace::Recording damaged = training(10'000, 980'000);
  damaged.losses.push_back({trace::LossReason::kDamagedFile, 7, "x.mtrec", "it ends early"});
  EXPECT_THAT(verdict_of(damaged).text, StartsWith("The recording is damaged: it ends early."));
  EXPECT_NE(verdict_of(damaged).level, Judgement::Level::kGood);
  damaged.losses.back() = {trace::LossReason::kDamagedFile, 1, "x.mtrec", "the recording was not finished: the file ends at byte 7"};
  EXPECT_THAT(verdict_of(damaged).text, StartsWith("The process did not end by itself, so its last moment may be missing."));
  EXPECT_EQ(verdict_of(trace::Recording()).text, "Nothing was recorded.");
  EXPECT_EQ(verdict_of(trace::Recording()).level, Judgement::Level::kUnknown);
  Maker maker;
  maker.step(1, 0, 1000);
  maker.op("aten::mm", 0, 1000);
  EXPECT_THAT(verdict_of(maker.finish()).text, StartsWith("Only 1 step was recorded. "));
}

TEST(Verdict, LinesAreShortened) {
  EXPECT_EQ(short_line("/home/me/train.py:12:main"), "train.py:12 in main");
  EXPECT_EQ(short_line("train"), "train");
}

TEST(Verdict, LevelsHaveNames) {
  EXPECT_EQ(verdict_level_name(Judgement::Level::kGood), "good");
  EXPECT_EQ(verdict_level_name(Judgement::Level::kUnknown), "unknown");
}

}  // namespace
}  // namespace mindtorch::analyze
