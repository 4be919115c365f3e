// FunctionEvent: every field of torch's FunctionEvent, from one recording.
#include "mindtorch/analyze/function_event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using testing::ElementsAre;

struct Recorded {
  trace::Recording make() {
    trace::Recording& r = maker.builder().recording();
    r.clock.start_ns = 1000;
    r.options = {
        .shapes = true, .stacks = true, .memory = true, .flops = true, .activities = {trace::DeviceType::kCpu, trace::DeviceType::kNpu}};
    r.memory_baselines = {{{}, 50, 50}, {kNpu0, 500, 900}};
    step = maker.step(3, 1000, 9000);
    op = maker.add({.name = "aten::mm",
                    .start_ns = 2000,
                    .duration_ns = 3000,
                    .link = trace::make_sequence_link(7),
                    .device = kNpu0,
                    .flags = trace::kKnownDevice});
    maker.shapes(op, {{2, 3}, {3, 4}});
    maker.builder().add_attribute(op, "overload_name", std::string_view("out"));
    maker.stack(op, {{"train.py", 8, "f"}, {"train.py", 1, "main"}});
    maker.launch(2500, 100, 40);
    kernel = maker.kernel("gemm", 6000, 800, 40);
    node = maker.op("MmBackward0", 7000, 500, trace::EventKind::kBackward, trace::make_sequence_link(7, 1));
    async = maker.add({.name = "rpc", .start_ns = 8000, .duration_ns = 90000, .flags = trace::kAsync});
    maker.builder().add_memory(3000, maker.thread(), kNpu0, 0x10, 64, 564, 900);
    maker.builder().add_memory(95000, maker.thread(), {}, 0x20, 16, 66, 66);
    maker.builder().add_step(5000, 1);
    return maker.finish();
  }
  FunctionEvent at(Maker::Id id) const { return {analysis, maker.new_index()[id]}; }

  Maker maker;
  Maker::Id step = 0, op = 0, kernel = 0, node = 0, async = 0;
  const trace::Recording recording = make();
  const Analysis analysis{recording};
};

TEST(FunctionEvent, AnOp) {
  const Recorded r;
  const FunctionEvent e = r.at(r.op);
  EXPECT_EQ(e.name(), "aten::mm");
  EXPECT_EQ(e.overload_name(), "out");
  EXPECT_EQ(e.kind_name(), "op");
  EXPECT_EQ(e.start_us(), 1.0);
  EXPECT_EQ(e.end_us(), 4.0);
  EXPECT_EQ(e.duration_ns(), 3000);
  EXPECT_EQ(e.step(), 0);
  EXPECT_EQ(e.thread(), 1u);
  EXPECT_EQ(e.thread_id(), 100);
  EXPECT_EQ(e.sequence_nr(), 7);
  EXPECT_EQ(e.fwd_thread(), 0u);
  EXPECT_EQ(e.scope(), 0);
  EXPECT_EQ(e.device_type(), trace::DeviceType::kCpu);
  EXPECT_EQ(e.op_device(), kNpu0);
  EXPECT_EQ(e.device_resource_id(), 1);
  EXPECT_EQ(e.cpu_time_total_ns(), 3000);
  EXPECT_EQ(e.self_cpu_time_total_ns(), 2900);
  EXPECT_EQ(e.device_time_total_ns(), 800);
  EXPECT_EQ(e.self_device_time_total_ns(), 800);
  EXPECT_EQ(e.memory_usage(), (MemoryDelta{0, 64}));
  EXPECT_EQ(e.flops(), 48);
  EXPECT_EQ(e.shapes(), (Shapes{{2, 3}, {3, 4}}));
  EXPECT_EQ(e.inputs().size(), 2u);
  EXPECT_THAT(e.stack(), ElementsAre("train.py:8:f", "train.py:1:main"));
  ASSERT_EQ(e.kernels().size(), 1u);
  EXPECT_EQ(e.kernels()[0].name, "gemm");
  EXPECT_EQ(e.kernels()[0].duration_ns, 800);
  ASSERT_TRUE(e.cpu_parent().has_value());
  EXPECT_EQ(*e.cpu_parent(), r.at(r.step));
}

TEST(FunctionEvent, MemorySpanIsThatOfTheOpsDevice) {
  const Recorded r;
  const auto span = r.at(r.op).memory_span();
  ASSERT_TRUE(span.has_value());
  EXPECT_EQ(span->device, kNpu0);
  EXPECT_EQ(span->before, 500);
  EXPECT_EQ(span->after, 564);
  EXPECT_EQ(span->delta(), 64);
  EXPECT_EQ(r.at(r.step).memory_span()->before, 50);
  EXPECT_FALSE(r.at(r.kernel).memory_span().has_value());
}

TEST(FunctionEvent, AStepAKernelABackwardNodeAndAnAsyncEvent) {
  const Recorded r;
  const FunctionEvent step = r.at(r.step), kernel = r.at(r.kernel), node = r.at(r.node), async = r.at(r.async);
  EXPECT_EQ(step.name(), "ProfilerStep*");
  EXPECT_EQ(step.trace_name(), "ProfilerStep#3");
  EXPECT_EQ(step.kind_name(), "scope");
  EXPECT_EQ(step.scope(), 7);
  EXPECT_TRUE(step.is_user_annotation());
  EXPECT_EQ(step.device_time_total_ns(), 800);
  EXPECT_THAT(step.cpu_children(), ElementsAre(r.at(r.op), node));

  EXPECT_EQ(kernel.kind_name(), "kernel");
  EXPECT_EQ(kernel.device_type(), trace::DeviceType::kNpu);
  EXPECT_EQ(kernel.device_resource_id(), 7);
  EXPECT_EQ(kernel.cpu_time_total_ns(), 0);
  EXPECT_EQ(kernel.self_device_time_total_ns(), 800);
  EXPECT_EQ(kernel.sequence_nr(), -1) << "a correlation is no sequence number";
  EXPECT_EQ(kernel.step(), 1);

  EXPECT_EQ(node.scope(), 1);
  EXPECT_EQ(node.sequence_nr(), 7);
  EXPECT_EQ(node.fwd_thread(), 1u);
  EXPECT_THAT(node.stack(), ElementsAre("train.py:8:f", "train.py:1:main"));

  EXPECT_TRUE(async.is_async());
  EXPECT_EQ(async.cpu_time_total_ns(), 90000);
  EXPECT_EQ(async.self_cpu_time_total_ns(), 0);
  EXPECT_FALSE(async.cpu_parent().has_value());
}

TEST(FunctionEvent, AMemoryReportOutsideOfAnyEvent) {
  const Recorded r;
  ASSERT_EQ(r.analysis.memory_use().outside().size(), 1u);
  const FunctionEvent e(r.analysis, static_cast<std::uint32_t>(r.recording.events.size() + r.analysis.memory_use().outside()[0]));
  EXPECT_EQ(e.index(), kNoEvent);
  EXPECT_EQ(e.name(), "[memory]");
  EXPECT_EQ(e.kind_name(), "memory");
  EXPECT_EQ(e.duration_ns(), 0);
  EXPECT_EQ(e.memory_usage().cpu, 16);
  EXPECT_EQ(e.self_memory_usage().cpu, 16);
  EXPECT_EQ(e.thread(), 1u);
  EXPECT_EQ(e.cpu_time_total_ns() + e.self_cpu_time_total_ns() + e.device_time_total_ns() + e.flops(), 0);
  EXPECT_TRUE(e.cpu_children().empty() && e.kernels().empty() && e.stack().empty() && e.shapes().empty() && e.inputs().empty());
  EXPECT_FALSE(e.memory_span().has_value() || e.cpu_parent().has_value() || e.is_async() || e.is_user_annotation());
  EXPECT_EQ(e.as_row().cpu_memory_usage, 16);
}

TEST(FunctionEvent, WhatTheEngineDoesAroundANodeIsNoFunctionOfTheBackwardPass) {
  Maker maker;
  const auto engine = maker.op("autograd::engine::evaluate_function: MmBackward0", 0, 100, trace::EventKind::kBackward);
  const auto node = maker.op("MmBackward0", 10, 50, trace::EventKind::kBackward);
  const Analysis analysis(std::make_shared<const trace::Recording>(maker.finish()));
  EXPECT_EQ(FunctionEvent(analysis, maker.new_index()[engine]).scope(), 0);
  EXPECT_EQ(FunctionEvent(analysis, maker.new_index()[node]).scope(), 1);
}

TEST(FunctionEvent, AFunctionOfTorchScriptHasAScopeOfItsOwn) {
  Maker maker;
  maker.add({.name = "forward", .start_ns = 0, .duration_ns = 100, .flags = trace::kScripted});
  const Analysis analysis(std::make_shared<const trace::Recording>(maker.finish()));
  EXPECT_EQ(FunctionEvent(analysis, 0).scope(), 2);
  EXPECT_EQ(FunctionEvent(analysis, 0).kind_name(), "op");
}

}  // namespace
}  // namespace mindtorch::analyze
