// The comparison behind every benchmark: order of turns, medians, the printed line.
#include "benchmarks/harness.h"

#include <gmock/gmock.h>

#include <string>

namespace mindtorch::benchmarks {
namespace {

using testing::ElementsAre;

TEST(Median, ItIsTheMiddleValueOrTheMeanOfTheTwoInTheMiddle) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({4, 1, 100, 2}), 3);
}

TEST(RunRounds, AlternativesTakeTurnsAndTheFirstRoundIsThrownAway) {
  std::string order;
  double next = 0;
  const auto alternative = [&](char name) {
    return [&order, &next, name] {
      order += name;
      return next++;
    };
  };
  const auto rounds = run_rounds({alternative('a'), alternative('b')}, 2);
  EXPECT_EQ(order, "abbaab");
  EXPECT_THAT(rounds, ElementsAre(ElementsAre(3, 2), ElementsAre(4, 5)));
}

TEST(Compare, OneDisturbedRoundDoesNotMoveTheRatio) {
  int call = 0;
  const Comparison c = compare([&] { return ++call == 3 ? 1000.0 : 12.0; }, [] { return 10.0; }, 5);
  EXPECT_EQ(c.ours, 12);
  EXPECT_EQ(c.peer, 10);
  EXPECT_DOUBLE_EQ(c.ratio, 1.2);
}

TEST(Compare, TheRatioIsTakenWithinEachRound) {
  const Comparison c = comparison_of({{2, 1}, {20, 10}, {300, 100}}, 0, 1);
  EXPECT_DOUBLE_EQ(c.ratio, 2);
}

std::string printed(const Result& result) {
  testing::internal::CaptureStdout();
  print_result(result);
  return testing::internal::GetCapturedStdout();
}

TEST(PrintResult, AResultIsOneLineOfJson) {
  EXPECT_EQ(printed({.name = "a/b", .ours = 3, .peer = "floor", .peer_value = 2, .unit = "ns", .note = "say \"hi\""}),
            "{\"name\": \"a/b\", \"ours\": 3, \"peer\": \"floor\", \"peer_value\": 2, \"ratio\": 1.5, \"unit\": \"ns\", "
            "\"note\": \"say \\\"hi\\\"\"}\n");
}

TEST(PrintResult, AResultWithoutAPeerSaysNull) {
  EXPECT_EQ(printed({.name = "a", .ours = 0.5}),
            "{\"name\": \"a\", \"ours\": 0.5, \"peer\": null, \"peer_value\": null, \"ratio\": null, \"unit\": \"\", \"note\": \"\"}\n");
}

TEST(NsPerOp, ItCallsTheOperationAsOftenAsAsked) {
  int calls = 0;
  EXPECT_GE(ns_per_op(100, [&] { ++calls; }), 0);
  EXPECT_EQ(calls, 100);
}

}  // namespace
}  // namespace mindtorch::benchmarks
