// EventStacks: forward stacks for backward calls, and whose frames count.
#include "mindtorch/analyze/event_stacks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mindtorch/analyze/analysis.h"
#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(EventStacks, FramesAreFileLineFunctionWithoutTheProfilersOwn) {
  Maker maker;
  maker.stack(maker.op("op", 0, 10), {{"/lib/python3/site-packages/mindtorch_v2/profiler/profiler.py", 7, "__enter__"},
                                      {"/lib/python3/site-packages/mindtorch_v2/nn/linear.py", 5, "forward"},
                                      {"my train.py", 3, "main"}});
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const EventStacks& stacks = analysis.stacks();
  ASSERT_TRUE(stacks.of(0).has_value());
  EXPECT_THAT(stacks.frames(*stacks.of(0)),
              ElementsAre("/lib/python3/site-packages/mindtorch_v2/nn/linear.py:5:forward", "my train.py:3:main"));
  EXPECT_THAT(stacks.user_frames(*stacks.of(0), 5), ElementsAre("my train.py:3:main"));
  EXPECT_THAT(stacks.user_frames(*stacks.of(0), 0), IsEmpty());
}

TEST(EventStacks, TestsOfThePackageAreUserCodeAndAStackOfLibraryFramesKeepsThem) {
  Maker maker;
  maker.stack(maker.op("a", 0, 10), {{"tests/mindtorch_v2/test_profiler.py", 1, "test"}, {"<frozen runpy>", 2, "run"}});
  maker.stack(maker.op("b", 20, 10), {{"torch/nn/modules/module.py", 1, "_call_impl"}});
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const EventStacks& stacks = analysis.stacks();
  EXPECT_THAT(stacks.user_frames(*stacks.of(0), 5), ElementsAre("tests/mindtorch_v2/test_profiler.py:1:test"));
  EXPECT_THAT(stacks.user_frames(*stacks.of(1), 5), ElementsAre("torch/nn/modules/module.py:1:_call_impl"));
}

TEST(EventStacks, TheBackwardPassHasTheStackOfTheForwardCall) {
  Maker maker;
  const auto forward = maker.op("aten::mul", 0, 10, trace::EventKind::kOp, trace::make_sequence_link(4));
  maker.stack(forward, {{"train.py", 11, "forward"}});
  maker.stack(maker.op("aten::mul", 20, 5, trace::EventKind::kOp, trace::make_sequence_link(4)), {{"train.py", 99, "later, same number"}});
  const trace::TrackId engine = maker.builder().add_thread(200);
  const auto node = maker.add({.name = "MulBackward0",
                               .kind = trace::EventKind::kBackward,
                               .track = engine,
                               .start_ns = 100,
                               .duration_ns = 50,
                               .link = trace::make_sequence_link(4, 1)});
  const auto inside = maker.add({.name = "aten::mul", .track = engine, .start_ns = 110, .duration_ns = 10});
  const auto unknown = maker.add({.name = "AddBackward0",
                                  .kind = trace::EventKind::kBackward,
                                  .track = engine,
                                  .start_ns = 200,
                                  .duration_ns = 50,
                                  .link = trace::make_sequence_link(5, 1)});
  maker.stack(unknown, {{"train.py", 30, "backward"}});
  const trace::Recording recording = maker.finish();
  const auto& at = maker.new_index();
  const Analysis analysis(recording);
  const EventStacks& stacks = analysis.stacks();
  EXPECT_EQ(stacks.of(at[node]), stacks.of(at[forward]));
  EXPECT_EQ(stacks.of(at[inside]), stacks.of(at[forward]));
  EXPECT_THAT(stacks.frames(*stacks.of(at[unknown])), ElementsAre("train.py:30:backward"));
}

TEST(EventStacks, ACorrelationIsNotTakenForASequenceNumber) {
  Maker maker;
  const auto launch = maker.launch(0, 10, trace::make_sequence_link(4));
  maker.stack(launch, {{"train.py", 1, "launch"}});
  const auto node = maker.op("MulBackward0", 100, 10, trace::EventKind::kBackward, trace::make_sequence_link(4, 1));
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_FALSE(analysis.stacks().of(maker.new_index()[node]).has_value());
}

TEST(EventStacks, StacksGroupByTheirInnermostUserFrames) {
  Maker maker;
  const Maker::Place library{"torch/functional.py", 1, "f"};
  maker.stack(maker.op("a", 0, 1), {{"x.py", 1, "f"}, {"x.py", 2, "g"}});
  maker.stack(maker.op("a", 10, 1), {library, {"x.py", 1, "f"}, {"x.py", 3, "h"}});
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_THAT(analysis.stacks().group_by_user_frames(1), ElementsAre(0, 0));
  EXPECT_THAT(analysis.stacks().group_by_user_frames(2), ElementsAre(0, 1));
}

TEST(EventStacks, WithoutStacksThereIsNothing) {
  Maker maker;
  maker.op("a", 0, 1);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_TRUE(analysis.stacks().empty());
  EXPECT_FALSE(analysis.stacks().of(0).has_value());
}

}  // namespace
}  // namespace mindtorch::analyze
