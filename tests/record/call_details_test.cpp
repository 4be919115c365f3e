// What hosts keep about calls for execution traces.
#include "mindtorch/record/call_details.h"

#include <gmock/gmock.h>

#include <thread>
#include <vector>

namespace mindtorch::record {
namespace {

TEST(CallDetails, ResultsJoinTheArgumentsOfTheirCall) {
  keep_call_inputs(7, {.inputs = {.values = "1"}, .schema = "aten::sin(Tensor self) -> Tensor"});
  keep_call_outputs(7, {.values = "2", .types = "\"Int\""});
  const CallDetailsById taken = take_call_details();
  ASSERT_EQ(taken.size(), 1);
  EXPECT_EQ(taken.at(7).inputs.values, "1");
  EXPECT_EQ(taken.at(7).outputs.values, "2");
  EXPECT_EQ(taken.at(7).outputs.types, "\"Int\"");
  EXPECT_EQ(taken.at(7).schema, "aten::sin(Tensor self) -> Tensor");
}

TEST(CallDetails, ResultsOfACallThatBeganUnseenAreDropped) {
  keep_call_outputs(8, {.values = "2"});
  EXPECT_TRUE(take_call_details().empty());
}

TEST(CallDetails, WhatWasTakenIsGone) {
  keep_call_inputs(9, {});
  take_call_details();
  EXPECT_TRUE(take_call_details().empty());
}

TEST(CallDetails, ThreadsKeepCallsAtTheSameTime) {
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread] {
      for (std::uint64_t i = 0; i < 100; ++i) {
        keep_call_inputs(100 * thread + i + 1, {});
        keep_call_outputs(100 * thread + i + 1, {.values = "0"});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(take_call_details().size(), 400);
}

}  // namespace
}  // namespace mindtorch::record
