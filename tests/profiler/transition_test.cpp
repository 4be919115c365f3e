// The table of transitions, every pair against torch's.
#include "mindtorch/profiler/transition.h"

#include <gtest/gtest.h>

#include <string>

namespace mindtorch::profiler {
namespace {

// "!" warning, "p" prepare, "b" begin (start), "e" end (stop), "r" ready.
std::string letters(ProfilerAction from, std::optional<ProfilerAction> to) {
  const Transition found = transition(from, to);
  std::string text = found.warning.empty() ? "" : "!";
  for (const TraceCall call : found.calls) text += "pber"[static_cast<int>(call)];
  return text;
}

constexpr auto kN = ProfilerAction::kNone, kW = ProfilerAction::kWarmup, kR = ProfilerAction::kRecord, kS = ProfilerAction::kRecordAndSave;

TEST(Transition, FromNoneATraceIsPreparedAndStartedWhenItIsNeeded) {
  EXPECT_EQ(letters(kN, kN), "");
  EXPECT_EQ(letters(kN, kW), "p");
  EXPECT_EQ(letters(kN, kR), "pb");
  EXPECT_EQ(letters(kN, kS), "pb");
  EXPECT_EQ(letters(kN, std::nullopt), "");
}

TEST(Transition, FromWarmupTheTraceStartsAndIsThrownAwayIfNothingIsRecorded) {
  EXPECT_EQ(letters(kW, kN), "!be");
  EXPECT_EQ(letters(kW, kW), "");
  EXPECT_EQ(letters(kW, kR), "b");
  EXPECT_EQ(letters(kW, kS), "b");
  EXPECT_EQ(letters(kW, std::nullopt), "be");
}

TEST(Transition, FromRecordOnlyTheEndCallsTheUser) {
  EXPECT_EQ(letters(kR, kN), "!e");
  EXPECT_EQ(letters(kR, kW), "!e");
  EXPECT_EQ(letters(kR, kR), "");
  EXPECT_EQ(letters(kR, kS), "");
  EXPECT_EQ(letters(kR, std::nullopt), "er");
}

TEST(Transition, FromRecordAndSaveTheUserIsCalledAndTheNextCycleBegins) {
  EXPECT_EQ(letters(kS, kN), "er");
  EXPECT_EQ(letters(kS, kW), "erp");
  EXPECT_EQ(letters(kS, kR), "erpb");
  EXPECT_EQ(letters(kS, kS), "erpb");
  EXPECT_EQ(letters(kS, std::nullopt), "er");
}

TEST(Transition, WarningsAreTorchsWords) {
  EXPECT_EQ(transition(kW, kN).warning, "Incorrect schedule: WARMUP followed by NONE");
  EXPECT_EQ(transition(kR, kN).warning, "Incorrect schedule: RECORD followed by NONE");
  EXPECT_EQ(transition(kR, kW).warning, "Incorrect schedule: RECORD followed by WARMUP");
}

}  // namespace
}  // namespace mindtorch::profiler
