// KeptCalls: work shares the fate of its call, and what decides if the call is not known.
#include "mindtorch/record/kept_calls.h"

#include <gtest/gtest.h>

namespace mindtorch::record {
namespace {

DeviceRecord call(std::uint64_t correlation) { return {.correlation = correlation, .kind = trace::EventKind::kRuntime}; }
DeviceRecord inner_call(std::uint64_t correlation) { return {.correlation = correlation, .kind = trace::EventKind::kDriver}; }
DeviceRecord kernel(std::uint64_t correlation) { return {.correlation = correlation, .kind = trace::EventKind::kKernel}; }

// Calls 1 to 3 lie outside, 4 to 6 inside, but 5 is not known.
KeptCalls example(KeptCalls::Ends ends) {
  KeptCalls calls(ends);
  for (const std::uint64_t outside : {1, 2, 3}) calls.add(call(outside), false);
  for (const std::uint64_t inside : {4, 6}) calls.add(call(inside), true);
  return calls;
}

TEST(KeptCalls, WorkSharesTheFateOfItsCallWhateverItsOwnTimes) {
  for (const KeptCalls::Ends ends : {KeptCalls::Ends::kClosed, KeptCalls::Ends::kOpen}) {
    const KeptCalls calls = example(ends);
    for (const bool is_inside : {false, true}) {
      EXPECT_FALSE(calls.keeps(kernel(3), is_inside));
      EXPECT_TRUE(calls.keeps(kernel(4), is_inside));
      EXPECT_TRUE(calls.keeps(kernel(5), is_inside)) << "its call lies between two that are kept";
    }
  }
}

TEST(KeptCalls, AtTheEndsWorkWithoutACallIsLeftOutOrDecidedByItsTimes) {
  for (const std::uint64_t beyond : {7, 1000}) {
    EXPECT_FALSE(example(KeptCalls::Ends::kClosed).keeps(kernel(beyond), true)) << "its call was under way at the end";
    EXPECT_TRUE(example(KeptCalls::Ends::kOpen).keeps(kernel(beyond), true));
    EXPECT_FALSE(example(KeptCalls::Ends::kOpen).keeps(kernel(beyond), false));
  }
}

TEST(KeptCalls, CallsOfOneCorrelationAreKeptTogetherOrNotAtAll) {
  KeptCalls calls;
  calls.add(call(8), false);  // began before the recording; the driver's call inside it began later
  calls.add(inner_call(8), true);
  EXPECT_FALSE(calls.keeps(inner_call(8), true));
  EXPECT_FALSE(calls.keeps(kernel(8), true));
}

TEST(KeptCalls, ARecordWithoutACorrelationBelongsByItsTimes) {
  KeptCalls calls = example(KeptCalls::Ends::kClosed);
  calls.add(call(0), false);
  EXPECT_TRUE(calls.keeps(kernel(0), true));
  EXPECT_FALSE(calls.keeps(kernel(0), false));
}

TEST(KeptCalls, WhatWasDroppedUpToACorrelationStaysAway) {
  KeptCalls calls(KeptCalls::Ends::kOpen);
  calls.drop_up_to(10);
  calls.drop_up_to(4);  // never takes back
  EXPECT_FALSE(calls.keeps(call(10), true));
  EXPECT_FALSE(calls.keeps(kernel(10), true));
  EXPECT_TRUE(calls.keeps(kernel(11), true));
}

TEST(KeptCalls, ACallThatWasRefusedStillHasItsWork) {
  KeptCalls calls = example(KeptCalls::Ends::kClosed);
  calls.reach(9);
  EXPECT_EQ(calls.last(), 9u);
  EXPECT_TRUE(calls.keeps(kernel(9), false));
  EXPECT_FALSE(calls.keeps(kernel(10), false));
}

}  // namespace
}  // namespace mindtorch::record
