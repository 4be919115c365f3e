// Flame: paths with their own times.
#include "mindtorch/analyze/report/flame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::IsEmpty;
using trace::EventKind;

// "outer;inner" -> the node.
const FlameNode& at(const std::vector<FlameNode>& nodes, const std::string& path) {
  for (std::uint32_t k = 1; k < nodes.size(); ++k) {
    std::string own = nodes[k].name;
    for (std::uint32_t parent = nodes[k].parent; parent != 0; parent = nodes[parent].parent) own = nodes[parent].name + ";" + own;
    if (own == path) return nodes[k];
  }
  ADD_FAILURE() << "no path " << path;
  return nodes[0];
}

TEST(Flame, CallsOfOnePathInDifferentStepsAreOneNode) {
  Maker maker;
  for (int step = 0; step < 3; ++step) {
    maker.step(step, 1000 * step, 900);
    maker.op("aten::linear", 1000 * step + 100, 200);
    maker.op("aten::addmm", 1000 * step + 120, 150);
  }
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const std::vector<FlameNode> nodes = op_flame(analysis);
  EXPECT_EQ(nodes.size(), 3U);
  EXPECT_EQ(at(nodes, "aten::linear").self_ns, 150);
  EXPECT_EQ(at(nodes, "aten::linear;aten::addmm").self_ns, 450);
  EXPECT_EQ(at(nodes, "aten::linear;aten::addmm").calls, 3);
}

TEST(Flame, ModulesLieBetweenTheScopeAroundThemAndTheirOps) {
  Maker maker;
  maker.scope("forward", 0, 100);
  maker.op("nn.Module: Net_0", 10, 80, EventKind::kModule);
  maker.op("aten::mm", 20, 30);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const std::vector<FlameNode> nodes = op_flame(analysis);
  EXPECT_EQ(at(nodes, "forward").self_ns, 20);
  EXPECT_EQ(at(nodes, "forward;nn.Module: Net_0").self_ns, 50);
  EXPECT_EQ(at(nodes, "forward;nn.Module: Net_0;aten::mm").self_ns, 30);
}

TEST(Flame, SmallPathsAreAddedToThePathAroundThem) {
  Maker maker;
  maker.op("outer", 0, 10'000);
  maker.op("large", 10, 5'000);
  maker.op("small", 6'000, 5);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const std::vector<FlameNode> all = op_flame(analysis), few = op_flame(analysis, 3);
  EXPECT_EQ(all.size(), 4U);
  EXPECT_EQ(few.size(), 3U);
  EXPECT_EQ(at(few, "outer").self_ns, 5'000);
  const auto total = [](const std::vector<FlameNode>& nodes) {
    return std::accumulate(nodes.begin(), nodes.end(), std::int64_t{0},
                           [](std::int64_t sum, const FlameNode& node) { return sum + node.self_ns; });
  };
  EXPECT_EQ(total(all), total(few));
}

TEST(Flame, AllocationsBelongToTheirPath) {
  Maker maker;
  maker.op("aten::empty", 0, 10);
  maker.memory(5, 4096);
  maker.memory(50, -4096);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_EQ(at(op_flame(analysis), "aten::empty").allocated, 4096);
}

TEST(Flame, StacksBeginWithTheOutermostFrameAndEndWithTheOp) {
  Maker maker;
  const auto op = maker.op("aten::mm", 0, 10);
  maker.stack(op, {{"train.py", 12, "step"}, {"train.py", 30, "<module>"}});
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_EQ(at(stack_flame(analysis), "<module> (train.py:30);step (train.py:12);aten::mm").self_ns, 10);
}

TEST(Flame, WithoutStacksThereIsNone) {
  Maker maker;
  maker.op("aten::mm", 0, 10);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  EXPECT_THAT(stack_flame(analysis), IsEmpty());
}

TEST(Flame, WithoutStacksCallsOfPythonFunctionsAreTheFrames) {
  Maker maker;
  maker.op("train.py(3): main", 0, 100, EventKind::kPythonFunction);
  maker.op("train.py(9): forward", 10, 60, EventKind::kPythonFunction);
  maker.op("aten::mm", 20, 30);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const std::vector<FlameNode> nodes = stack_flame(analysis);
  ASSERT_EQ(nodes.size(), 4U);
  EXPECT_EQ(nodes[1].name, "main (train.py:3)");
  EXPECT_EQ(nodes[1].self_ns, 40);
  EXPECT_EQ(nodes[2].self_ns, 30);
  EXPECT_EQ(nodes[3].name, "aten::mm");
  EXPECT_EQ(nodes[3].parent, 2U);
  EXPECT_EQ(op_flame(analysis).size(), 2U) << "in the other view there are ops alone";
}

TEST(Flame, WithoutStacksOfOpsTheSamplesAreTheGraph) {
  Maker maker;
  trace::RecordingBuilder& builder = maker.builder();
  const auto frame = [&](std::string_view file, int line, std::string_view function) {
    return trace::Frame{builder.intern(file), builder.intern(function), line};
  };
  const std::vector<trace::Frame> slow = {frame("train.py", 7, "slow"), frame("train.py", 20, "main")};
  const std::vector<trace::Frame> main = {frame("train.py", 20, "main")};
  builder.add_sample(0, 30, maker.thread(), slow, trace::ThreadState::kRunning);
  builder.add_sample(30, 10, maker.thread(), main, trace::ThreadState::kRunning);
  builder.add_sample(40, 5, maker.thread(), slow, trace::ThreadState::kSleeps);
  const trace::Recording recording = maker.finish();
  const std::vector<FlameNode> nodes = stack_flame(Analysis(recording));
  ASSERT_EQ(nodes.size(), 3U) << "the root, main and slow";
  EXPECT_EQ(nodes[1].name, "main (train.py:20)");
  EXPECT_EQ(nodes[1].self_ns, 10);
  EXPECT_EQ(nodes[2].name, "slow (train.py:7)");
  EXPECT_EQ(nodes[2].parent, 1U);
  EXPECT_EQ(nodes[2].self_ns, 35);
}

}  // namespace
}  // namespace mindtorch::analyze
