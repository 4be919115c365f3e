// What a profile of the runtime shows: each op once, composites with children, nodes with their sequence numbers, shapes, memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mindtorch/record/session.h"
#include "mindtorch/runtime/autograd/grad_mode.h"
#include "mindtorch/runtime/caching_allocator.h"
#include "mindtorch/runtime/cpu_backend.h"
#include "mindtorch/runtime/functions.h"
#include "mindtorch/trace/inputs.h"

namespace mindtorch {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using trace::EventIndex;
using trace::EventKind;
using trace::Recording;

Recording record_of(const std::function<void()>& work, record::SessionOptions options = {}) {
  auto session = record::Session::prepare(std::move(options));
  session->start();
  work();
  return session->stop();
}

// Names of events, indented by how deep they lie in others on their thread.
std::vector<std::string> tree(const Recording& recording) {
  std::vector<std::string> lines;
  std::vector<EventIndex> open;
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    const std::int64_t start = recording.events.start_ns[i], end = start + recording.events.duration_ns[i];
    const auto contains = [&](EventIndex outer) {
      return recording.events.start_ns[outer] + recording.events.duration_ns[outer] >= end && recording.events.start_ns[outer] <= start &&
             recording.track_of(outer) == recording.track_of(i);
    };
    while (!open.empty() && !contains(open.back())) open.pop_back();
    lines.push_back(std::string(2 * open.size(), ' ') + std::string(recording.name(i)));
    open.push_back(i);
  }
  return lines;
}

EventIndex find_event(const Recording& recording, std::string_view name) {
  for (EventIndex i = 0; i < recording.events.size(); ++i)
    if (recording.name(i) == name) return i;
  ADD_FAILURE() << "no event " << name;
  return 0;
}

class RuntimeRecordingTest : public ::testing::Test {
 protected:
  // Each reading of the clock is a nanosecond later, so that nesting is exact.
  RuntimeRecordingTest() { clock.tick_by(1); }
  record::SessionOptions with_clock() {
    record::SessionOptions options;
    options.clock = &clock;
    return options;
  }
  record::FakeClock clock;
};

TEST_F(RuntimeRecordingTest, AnOpIsRecordedOnceAlsoWhenItIsDifferentiated) {
  const Tensor x = ones({2, 2}, {.requires_grad = true}), y = ones({2, 2});
  EXPECT_THAT(tree(record_of([&] { x* x; }, with_clock())), ElementsAre("aten::mul"));
  EXPECT_THAT(tree(record_of([&] { y + y; }, with_clock())), ElementsAre("aten::add"));
}

TEST_F(RuntimeRecordingTest, CompositesShowTheirChildren) {
  const Tensor x = ones({2, 3}), w = ones({4, 3}, {.requires_grad = true}), b = ones({4});
  EXPECT_THAT(tree(record_of([&] { linear(x, w, b); }, with_clock())),
              ElementsAre("aten::linear", "  aten::t", "    aten::transpose", "  aten::addmm", "    aten::expand", "    aten::copy_"));
  EXPECT_THAT(tree(record_of([&] { ones({2}); }, with_clock())), ElementsAre("aten::ones", "  aten::empty", "  aten::fill_"));
  const Tensor images = ones({2, 3, 4});
  EXPECT_THAT(tree(record_of([&] { batch_norm(images, {}, {}, {}, {}, true); }, with_clock())),
              ElementsAre("aten::batch_norm", "  aten::_batch_norm_impl_index", "    aten::empty", "    aten::native_batch_norm"));
  EXPECT_THAT(tree(record_of(
                  [&] {
                    matmul(ones({2, 3, 4}), ones({4, 5}));
                  },
                  with_clock())),
              IsSupersetOf({"aten::matmul", "  aten::reshape", "    aten::view", "  aten::mm", "  aten::_unsafe_view"}));
}

TEST_F(RuntimeRecordingTest, BackwardShowsNodesWithTheirOps) {
  const Tensor x = ones({2}, {.requires_grad = true});
  const Recording recording = record_of([&] { (x * x).sum().backward(); }, with_clock());
  EXPECT_THAT(tree(recording),
              ElementsAre("aten::mul", "aten::sum", "aten::ones_like", "  aten::empty_like", "  aten::fill_",  //
                          "autograd::engine::evaluate_function: SumBackward0", "  SumBackward0", "    aten::expand",
                          "autograd::engine::evaluate_function: MulBackward0", "  MulBackward0", "    aten::mul", "    aten::mul",
                          "  aten::add_", "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad",
                          "  torch::autograd::AccumulateGrad", "    aten::detach"));
}

TEST_F(RuntimeRecordingTest, NodesCarryTheSequenceNumberAndThreadOfTheirForwardOp) {
  const Tensor x = ones({2}, {.requires_grad = true});
  const Recording recording = record_of([&] { (x * x).sum().backward(); }, with_clock());
  const EventIndex forward = find_event(recording, "aten::mul"), backward = find_event(recording, "MulBackward0");
  const std::int64_t sequence = trace::sequence_of(recording.events.link[forward]);
  EXPECT_GE(sequence, 0);
  EXPECT_EQ(trace::sequence_of(recording.events.link[backward]), sequence);
  EXPECT_EQ(trace::sequence_of(recording.events.link[find_event(recording, "aten::sum")]), sequence + 1);
  EXPECT_EQ(recording.events.kind[backward], EventKind::kBackward);
  EXPECT_EQ(trace::forward_thread_of(recording.events.link[backward]), recording.tracks[recording.track_of(forward)].number);
  EXPECT_EQ(trace::sequence_of(recording.events.link[find_event(recording, "torch::autograd::AccumulateGrad")]), -1);
}

TEST_F(RuntimeRecordingTest, OpsWithoutGradientHaveNoSequenceNumber) {
  const Tensor x = ones({2}, {.requires_grad = true});
  const Recording recording = record_of([&] {
    NoGradGuard no_grad;
    x* x;
  });
  EXPECT_EQ(recording.events.link[0], 0u);
}

TEST_F(RuntimeRecordingTest, ArgumentsAreRecordedInCallOrderOnlyWhenAsked) {
  const Tensor x = ones({2, 3}), y = ones({3, 2}).t();
  record::SessionOptions options = with_clock();
  options.shapes = true;
  const Recording recording = record_of(
      [&] {
        add(x, y, 2);
        x.sum({0}, true);
        cat({x, y}, 1);
      },
      std::move(options));
  const auto inputs = [&](std::string_view name) { return trace::decode_inputs(recording.inputs.find(find_event(recording, name))); };
  const std::vector<trace::Input> of_add = inputs("aten::add");
  ASSERT_EQ(of_add.size(), 3u);
  EXPECT_EQ(of_add[0].sizes, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(of_add[0].dtype, trace::ScalarType::kFloat);
  EXPECT_EQ(of_add[1].strides, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(of_add[2].integer, 2);
  const std::vector<trace::Input> of_sum = inputs("aten::sum");
  ASSERT_EQ(of_sum.size(), 4u);
  EXPECT_EQ(of_sum[1].kind, trace::Input::Kind::kIntList);
  EXPECT_EQ(of_sum[2].kind, trace::Input::Kind::kBool);
  EXPECT_EQ(of_sum[3].kind, trace::Input::Kind::kNone);
  const std::vector<trace::Input> of_cat = inputs("aten::cat");
  ASSERT_EQ(of_cat[0].list.size(), 2u);
  EXPECT_EQ(of_cat[1].integer, 1);
  const Recording without = record_of([&] { x + y; });
  EXPECT_TRUE(without.inputs.find(0).empty());
}

TEST_F(RuntimeRecordingTest, TheDeviceOfAnOpIsKnown) {
  const Recording recording = record_of([] { ones({1}) + 1; });
  for (EventIndex i = 0; i < recording.events.size(); ++i) {
    EXPECT_NE(recording.events.flags[i] & trace::kKnownDevice, 0);
    EXPECT_EQ(recording.events.device[i].type, trace::DeviceType::kCpu);
  }
}

TEST_F(RuntimeRecordingTest, AllocationsAndFreesComeWithTotals) {
  ones({1});
  record::SessionOptions options;
  options.memory = true;
  const std::int64_t before = cpu_allocator().memory_allocated();
  const Recording recording = record_of(
      [] {
        const Tensor x = empty({100});
        const Tensor y = x + x;
      },
      std::move(options));
  std::vector<std::int64_t> totals;
  for (const std::int64_t total : recording.memory.total_allocated) totals.push_back(total - before);
  EXPECT_THAT(recording.memory.bytes, ElementsAre(400, 400, -400, -400));
  EXPECT_THAT(totals, ElementsAre(400, 800, 400, 0));
  ASSERT_FALSE(recording.memory_baselines.empty());
}

TEST_F(RuntimeRecordingTest, AnOpThatThrowsClosesItsEvent) {
  const Recording recording = record_of([] { EXPECT_THROW(ones({2}) + ones({3}), Error); });
  EXPECT_TRUE(recording.losses.empty());
  EXPECT_EQ(recording.events.flags[find_event(recording, "aten::add")] & trace::kUnfinished, 0);
}

}  // namespace
}  // namespace mindtorch
