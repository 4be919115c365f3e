// DerivedCalls: functions around events, from the events' stacks.
#include "mindtorch/analyze/derived_calls.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

// "main 0-10, step 2-4 in main", in order.
std::vector<std::string> shown(const trace::Recording& recording) {
  const auto function = [&](const DerivedCall& call) { return recording.names[recording.stacks.frames[call.frame].function]; };
  std::vector<std::string> texts;
  std::vector<DerivedCall> open;
  for (const DerivedCall& call : derived_calls(recording)) {
    EXPECT_EQ(recording.events.start_ns[call.first_event], call.start_ns);
    EXPECT_LE(recording.events.end_ns(call.first_event), call.end_ns);
    while (!open.empty() && open.back().end_ns <= call.start_ns) open.pop_back();
    texts.push_back(fmt::format("{} {}-{}", function(call), call.start_ns, call.end_ns));
    if (!open.empty()) texts.back() += " in " + function(open.back());
    open.push_back(call);
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(DerivedCalls, AFunctionLastsFromItsFirstEventToItsLast) {
  Maker make;
  make.stack(make.op("a", 1, 2), {{"f.py", 2, "step"}, {"f.py", 9, "main"}});
  make.stack(make.op("b", 4, 3), {{"f.py", 3, "step"}, {"f.py", 9, "main"}});
  make.stack(make.op("c", 8, 1), {{"f.py", 10, "main"}});
  EXPECT_EQ(shown(make.finish()), (Texts{"main 1-9", "step 1-7 in main"}));
}

TEST(DerivedCalls, ACallFromAnotherLineIsAnotherCall) {
  Maker make;
  make.stack(make.op("a", 1, 2), {{"f.py", 2, "step"}, {"f.py", 9, "main"}});
  make.stack(make.op("b", 4, 3), {{"f.py", 2, "step"}, {"f.py", 10, "main"}});
  EXPECT_EQ(shown(make.finish()), (Texts{"main 1-7", "step 1-3 in main", "step 4-7 in main"}));
}

TEST(DerivedCalls, FunctionsInsideAnEventEndWithIt) {
  Maker make;
  make.stack(make.scope("scope", 0, 10), {{"f.py", 9, "main"}});
  make.stack(make.op("a", 1, 2), {{"f.py", 2, "step"}, {"f.py", 9, "main"}});
  make.stack(make.scope("scope", 20, 10), {{"f.py", 9, "main"}});
  make.stack(make.op("a", 21, 2), {{"f.py", 2, "step"}, {"f.py", 9, "main"}});
  EXPECT_EQ(shown(make.finish()), (Texts{"main 0-30", "step 1-3 in main", "step 21-23 in main"}));
}

TEST(DerivedCalls, AnEventWithoutAStackLiesInWhatIsOpen) {
  Maker make;
  make.stack(make.op("a", 1, 2), {{"f.py", 9, "main"}});
  make.op("b", 4, 3);
  make.stack(make.op("c", 8, 1), {{"f.py", 10, "main"}});
  EXPECT_EQ(shown(make.finish()), (Texts{"main 1-9"}));
}

TEST(DerivedCalls, RecordedCallsNeedNoDerivedOnes) {
  Maker make;
  make.stack(make.op("a", 1, 2), {{"f.py", 9, "main"}});
  make.op("f.py(9): main", 0, 9, trace::EventKind::kPythonFunction);
  EXPECT_EQ(shown(make.finish()), Texts{});
}

TEST(DerivedCalls, TheStepOfAnOptimizerIsNotASignOfRecordedCalls) {
  Maker make;
  make.stack(make.op("a", 1, 2), {{"f.py", 9, "main"}});
  make.add({.name = "step", .kind = trace::EventKind::kPythonFunction, .start_ns = 4, .duration_ns = 1, .flags = trace::kTraceOnly});
  EXPECT_EQ(shown(make.finish()), (Texts{"main 1-5"}));
}

TEST(DerivedCalls, AsynchronousEventsDoNotHoldFunctionsOpen) {
  Maker make;
  make.stack(make.add({.name = "a", .start_ns = 1, .duration_ns = 50, .flags = trace::kAsync}), {{"f.py", 2, "send"}, {"f.py", 9, "main"}});
  make.stack(make.op("b", 2, 1), {{"f.py", 9, "main"}});
  EXPECT_EQ(shown(make.finish()), (Texts{"main 2-3"}));
}

TEST(DerivedCalls, AnEventThatOutlivesTheOneAroundItDoesNotHoldFunctionsOpen) {
  Maker make;
  make.stack(make.scope("outer", 0, 10), {{"f.py", 9, "main"}});
  make.stack(make.scope("generator", 1, 30), {{"f.py", 2, "items"}, {"f.py", 9, "main"}});
  make.stack(make.op("a", 2, 3), {{"f.py", 3, "items"}, {"f.py", 9, "main"}});
  EXPECT_EQ(shown(make.finish()), (Texts{"main 0-10", "items 2-5 in main"}));
}

TEST(DerivedCalls, RandomStacksGiveCallsThatNest) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    Maker make;
    std::int64_t now = 0;
    for (int i = 0; i < 40; ++i) {
      const Maker::Id id = make.op("op", now, 5);
      std::vector<Maker::Place> stack;
      for (std::uint32_t depth = 1 + random() % 3; depth-- > 0;)
        stack.push_back({"f.py", static_cast<int>(random() % 2), depth % 2 == 0 ? "f" : "g"});
      make.stack(id, stack);
      now += random() % 2 == 0 ? 1 : 6;
    }
    std::vector<DerivedCall> open;
    for (const DerivedCall& call : derived_calls(make.finish())) {
      ASSERT_LE(call.start_ns, call.end_ns);
      while (!open.empty() && open.back().end_ns <= call.start_ns) open.pop_back();
      if (!open.empty()) {
        ASSERT_LE(open.back().start_ns, call.start_ns);
        ASSERT_GE(open.back().end_ns, call.end_ns);
        ASSERT_LE(open.back().first_event, call.first_event);
      }
      open.push_back(call);
    }
  }
}

}  // namespace
}  // namespace mindtorch::analyze
