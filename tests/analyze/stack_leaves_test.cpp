// Stack leaves: the own time of ops by the place where they ran.
#include "mindtorch/analyze/stack_leaves.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::IsEmpty;
using testing::UnorderedElementsAre;

// "outermost;...;op 10 ns of 1".
std::vector<std::string> texts(const Analysis& analysis) {
  std::vector<std::string> lines;
  for (const StackLeaf& leaf : stack_leaves(analysis))
    lines.push_back(fmt::format("{} {} ns of {}", fmt::join(LeafPaths(analysis).of(leaf), ";"), leaf.self_ns, leaf.calls));
  return lines;
}

TEST(StackLeaves, CallsOfAnOpFromTheSamePlaceAreOneLeaf) {
  Maker maker;
  for (int i = 0; i < 3; ++i) maker.stack(maker.op("aten::mm", 100 * i, 10), {{"net.py", 5, "forward"}, {"train.py", 9, "<module>"}});
  maker.stack(maker.op("aten::mm", 500, 10), {{"train.py", 9, "<module>"}});
  const trace::Recording recording = maker.finish();
  EXPECT_THAT(texts(Analysis(recording)), UnorderedElementsAre("<module> (train.py:9);forward (net.py:5);aten::mm 30 ns of 3",
                                                               "<module> (train.py:9);aten::mm 10 ns of 1"));
}

TEST(StackLeaves, TheBackwardPassIsWhereItRanAndNotWhereItsForwardCallWas) {
  Maker maker;
  maker.stack(maker.op("aten::mul", 0, 10, trace::EventKind::kOp, trace::make_sequence_link(4)), {{"train.py", 11, "forward"}});
  const auto node = maker.op("MulBackward0", 100, 50, trace::EventKind::kBackward, trace::make_sequence_link(4, 1));
  maker.stack(node, {{"train.py", 12, "backward"}});
  const trace::Recording recording = maker.finish();
  EXPECT_THAT(texts(Analysis(recording)),
              UnorderedElementsAre("forward (train.py:11);aten::mul 10 ns of 1", "backward (train.py:12);MulBackward0 50 ns of 1"));
}

TEST(StackLeaves, AnEventWithoutAStackIsWhereTheEventAroundItIs) {
  Maker maker;
  maker.stack(maker.op("outer", 0, 100), {{"train.py", 3, "main"}});
  maker.op("inner", 10, 30);
  const trace::Recording recording = maker.finish();
  EXPECT_THAT(texts(Analysis(recording)), UnorderedElementsAre("main (train.py:3);outer 70 ns of 1", "main (train.py:3);inner 30 ns of 1"));
}

TEST(StackLeaves, AThreadWithoutPythonIsThePlaceOfItsEvents) {
  Maker maker;
  maker.stack(maker.op("aten::mul", 0, 10), {{"train.py", 3, "main"}});
  const trace::TrackId named = maker.builder().add_thread(200, "pt_autograd_0"), other = maker.builder().add_thread(300);
  maker.add({.name = "MulBackward0", .kind = trace::EventKind::kBackward, .track = named, .start_ns = 20, .duration_ns = 5});
  maker.add({.name = "AddBackward0", .kind = trace::EventKind::kBackward, .track = other, .start_ns = 20, .duration_ns = 7});
  const trace::Recording recording = maker.finish();
  EXPECT_THAT(texts(Analysis(recording)),
              UnorderedElementsAre("main (train.py:3);aten::mul 10 ns of 1", "pt_autograd_0;MulBackward0 5 ns of 1",
                                   "thread 300;AddBackward0 7 ns of 1"));
}

TEST(StackLeaves, StepsAreLeftOutAndMemoryAndDeviceTimeBelongToTheirOp) {
  Maker maker;
  maker.stack(maker.step(1, 0, 1000), {{"train.py", 2, "<module>"}});
  maker.launch(5, 2, 2);
  maker.stack(maker.op("aten::empty", 10, 20), {{"train.py", 3, "main"}});
  maker.memory(15, 4096);
  maker.launch(20, 5, 1);
  maker.kernel("k", 2000, 300, 1);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_THAT(texts(analysis),
              UnorderedElementsAre("main (train.py:3);aten::empty 15 ns of 1", "main (train.py:3);aclrtLaunchKernel 5 ns of 1",
                                   "thread 100;aclrtLaunchKernel 2 ns of 1"));
  const EventNames::Key empty = analysis.names().key(recording.events.name[2]);
  for (const StackLeaf& leaf : stack_leaves(analysis)) {
    const bool is_op = leaf.op == empty;
    EXPECT_EQ(leaf.allocated, is_op ? 4096 : 0);
    EXPECT_EQ(leaf.self_device_ns, is_op ? 300 : 0);
  }
}

TEST(StackLeaves, WithoutStacksThereAreNone) {
  Maker maker;
  maker.op("aten::mm", 0, 10);
  const trace::Recording recording = maker.finish();
  EXPECT_THAT(stack_leaves(Analysis(recording)), IsEmpty());
}

}  // namespace
}  // namespace mindtorch::analyze
