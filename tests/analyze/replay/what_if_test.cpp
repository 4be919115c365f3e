// WhatIf: answers agree with programs that are different in fact, and questions that make no sense are refused.
#include "mindtorch/analyze/replay/what_if.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mindtorch/base/error.h"
#include "tests/analyze/recordings.h"
#include "tests/analyze/replay/simulated_training.h"

namespace mindtorch::analyze {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

WhatIfAnswer ask(const trace::Recording& recording, const WhatIf& question) { return what_if(Analysis(recording), question); }

double share_off(std::int64_t predicted, std::int64_t actual) {
  return std::abs(static_cast<double>(predicted - actual)) / static_cast<double>(actual);
}

std::vector<SimulatedProgram> programs() {
  std::vector<SimulatedProgram> all;
  for (const std::uint32_t seed : {1U, 2U, 3U}) {
    all.push_back({.seed = seed});                       // bound by the host
    all.push_back({.seed = seed, .kernel_ns = 60'000});  // by the device
    all.push_back({.seed = seed, .kernel_ns = 25'000});  // by both
    all.push_back({.seed = seed, .kernel_ns = 60'000, .has_backward_thread = false});
    all.push_back({.seed = seed, .kernel_ns = 30'000, .synchronises = false});  // but for the copies
    all.push_back({.seed = seed, .kernel_ns = 20'000, .reads_values = false});
    all.push_back({.seed = seed, .has_backward_thread = false, .batch_ns = 3'000'000});  // by the loader
    all.push_back({.seed = seed, .has_backward_thread = false, .batch_ns = 900'000});
  }
  return all;
}

TEST(WhatIf, UnchangedStepsAreTheRecordedOnes) {
  for (const SimulatedProgram& program : programs()) {
    const Simulation simulated = simulate(program);
    const WhatIfAnswer answer = ask(simulated.recording, {.scale = {{"op:aten::mm", 1.0}}});
    EXPECT_LT(share_off(answer.step_ns, simulated.step_ns), 0.03);
    EXPECT_LT(share_off(answer.replayed_ns, answer.step_ns), 0.001) << "kernels of " << program.kernel_ns;
    EXPECT_EQ(answer.predicted_ns, answer.replayed_ns);
    EXPECT_EQ(answer.steps, 11U);
  }
}

TEST(WhatIf, FasterKernelsAreForetold) {
  for (SimulatedProgram program : programs()) {
    const Simulation before = simulate(program);
    program.kernel_factor = 0.5;
    const WhatIfAnswer answer = ask(before.recording, {.scale = {{"kernel:gemm", 0.5}}});
    EXPECT_LT(share_off(answer.predicted_ns, simulate(program).step_ns), 0.04)
        << "seed " << program.seed << " kernels of " << program.kernel_ns << ": from " << before.step_ns << " to " << answer.predicted_ns
        << " and not " << simulate(program).step_ns;
  }
}

TEST(WhatIf, SlowerKernelsAreForetold) {
  for (SimulatedProgram program : programs()) {
    const Simulation before = simulate(program);
    program.kernel_factor = 3;
    const WhatIfAnswer answer = ask(before.recording, {.scale = {{"kernel:gemm", 3}}});
    EXPECT_LT(share_off(answer.predicted_ns, simulate(program).step_ns), 0.04)
        << "seed " << program.seed << " kernels of " << program.kernel_ns;
  }
}

// With the kernels that it launches.
TEST(WhatIf, FasterOpsAreForetold) {
  for (SimulatedProgram program : programs()) {
    const Simulation before = simulate(program);
    program.relu_factor = 0.25;
    const std::int64_t predicted = ask(before.recording, {.scale = {{"op:aten::relu", 0.25}}}).predicted_ns;
    const std::int64_t actual = simulate(program).step_ns;
    EXPECT_LT(predicted, actual + actual / 25) << "seed " << program.seed << " kernels of " << program.kernel_ns;
    // Workers that were fast enough for the recorded loop may be too slow for a faster one, which the recording does not tell.
    if (program.batch_ns == 900'000) continue;
    EXPECT_LT(share_off(predicted, actual), 0.04) << "seed " << program.seed << " kernels of " << program.kernel_ns;
  }
}

TEST(WhatIf, FasterWorkersOfALoaderAreForetold) {
  SimulatedProgram program{.has_backward_thread = false, .batch_ns = 3'000'000};
  const Simulation before = simulate(program);
  program.batch_factor = 0.5;
  const WhatIfAnswer answer = ask(before.recording, {.scale = {{"loading", 0.5}}});
  EXPECT_LT(share_off(answer.predicted_ns, simulate(program).step_ns), 0.04);
  // The workers decide how long a step takes: the loop waits for as much longer as its ops take less.
  EXPECT_LT(share_off(ask(before.recording, {.scale = {{"op:aten::mm", 0.2}}}).predicted_ns, before.step_ns), 0.03);
}

TEST(WhatIf, AWaitThatIsRemovedHidesNothing) {
  SimulatedProgram program{.kernel_ns = 25'000, .has_backward_thread = false, .reads_values = false};
  const Simulation before = simulate(program);
  program.synchronises = false;
  const WhatIfAnswer answer = ask(before.recording, {.remove = {"cause:device_wait"}});
  EXPECT_LT(answer.predicted_ns, answer.replayed_ns);
  EXPECT_GE(answer.predicted_ns, 11 * answer.replayed_ns / 20);
}

TEST(WhatIf, RemovingMoreNeverTakesLonger) {
  const std::vector<std::string> all = {"op:aten::mm", "kernel:gemm", "cause:forward", "copies", "cause:device_wait", "op:MulBackward0"};
  for (const SimulatedProgram& program : programs()) {
    const Simulation simulated = simulate(program);
    if (program.batch_ns > 0 || !program.has_backward_thread || !program.reads_values || !program.synchronises) continue;
    WhatIf question;
    std::int64_t last = ask(simulated.recording, {.scale = {{"op:aten::mm", 1.0}}}).replayed_ns;
    for (const std::string& selector : all) {
      question.remove.push_back(selector);
      const std::int64_t predicted = ask(simulated.recording, question).predicted_ns;
      EXPECT_LE(predicted, last) << selector;
      last = predicted;
    }
  }
}

// Ten steps of 10 us on the host alone: an op of 4 us with another of 1 us inside, 2 us in the optimizer, the rest between them.
trace::Recording host_only() {
  Maker maker;
  for (std::int64_t step = 0; step < 10; ++step) {
    const std::int64_t at = step * 10'000;
    maker.step(step, at, 10'000);
    const auto linear = maker.op("aten::linear", at + 1'000, 4'000);
    maker.stack(linear, {{"/home/me/train.py", 12, "forward"}});
    maker.op("aten::mm", at + 2'000, 1'000);
    maker.scope("Optimizer.step#SGD.step", at + 6'000, 2'000);
    maker.scope("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", at + 8'500, 1'000);
  }
  return maker.finish();
}

TEST(WhatIf, SelectorsMeanWhatTheySay) {
  const trace::Recording recording = host_only();
  const auto after_removing = [&](const std::string& selector) { return ask(recording, {.remove = {selector}}).predicted_ns; };
  EXPECT_EQ(after_removing("op:aten::mm"), 9'000);
  EXPECT_EQ(after_removing("op:aten::linear"), 6'000);  // with what it calls
  EXPECT_EQ(after_removing("op:aten::*"), 6'000);
  EXPECT_EQ(after_removing("cause:optimizer"), 8'000);
  EXPECT_EQ(after_removing("loading"), 9'000);
  EXPECT_EQ(after_removing("cause:data loading"), 9'000);
  EXPECT_EQ(after_removing("line:train.py:12"), 6'000);
  EXPECT_EQ(after_removing("line:/home/me/train.py:12"), 6'000);
  EXPECT_EQ(after_removing("python:forward"), 6'000);
  EXPECT_EQ(ask(recording, {.scale = {{"op:aten::mm", 3}}}).predicted_ns, 12'000);
  // Factors of the same time multiply.
  EXPECT_EQ(ask(recording, {.scale = {{"op:aten::mm", 0.5}, {"cause:forward", 0.5}}}).predicted_ns, 10'000 - 1'500 - 750);
}

TEST(WhatIf, LoadingBesideTheStepsTakesNoTimeUnlessItTakesLonger) {
  const trace::Recording recording = host_only();
  EXPECT_EQ(ask(recording, {.overlap = {"loading"}}).predicted_ns, 9'000);
  EXPECT_EQ(ask(recording, {.scale = {{"loading", 30}}, .overlap = {"loading"}}).predicted_ns, 30'000);
}

TEST(WhatIf, CopiesBesideTheStepsBlockNothing) {
  SimulatedProgram program{.kernel_ns = 25'000, .synchronises = true};
  const Simulation before = simulate(program);
  program.reads_values = false;
  const WhatIfAnswer answer = ask(before.recording, {.overlap = {"copies"}});
  EXPECT_LT(answer.predicted_ns, answer.replayed_ns);
}

TEST(WhatIf, WrongQuestionsAreRefused) {
  const trace::Recording recording = host_only();
  const auto refuses = [&](const WhatIf& question, const std::string& text) {
    EXPECT_THAT([&] { ask(recording, question); }, ThrowsMessage<InvalidArgument>(HasSubstr(text)));
  };
  refuses({.remove = {"mm"}}, "'mm' is no selector");
  refuses({.remove = {"opp:mm"}}, "'opp:mm' is no selector");
  refuses({.remove = {"op:"}}, "has no name");
  refuses({.remove = {"op:aten::bmm"}}, "there are, most time first: aten::linear, aten::mm");
  refuses({.remove = {"kernel:gemm"}}, "it has nothing of this kind");
  refuses({.remove = {"cause:dreaming"}}, "causes are forward, backward");
  refuses({.scale = {{"op:aten::mm", -1}}}, "the factor -1 of 'op:aten::mm'");
  refuses({.scale = {{"op:aten::mm", std::nan("")}}}, "the factor nan");
  refuses({.overlap = {"everything"}}, "'everything' cannot be overlapped");
  refuses({.overlap = {"collectives"}}, "there are no collectives in the steps");
}

TEST(WhatIf, ScalesAreReadFromText) {
  EXPECT_EQ(parse_scale("op:aten::mm=0.5"), std::pair(std::string("op:aten::mm"), 0.5));
  EXPECT_EQ(parse_scale("kernel:a=b=2"), std::pair(std::string("kernel:a=b"), 2.0));
  for (const std::string text : {"op:aten::mm", "=2", "op:a=", "op:a=fast", "op:a=-1", "op:a=nan", "op:a=1x"})
    EXPECT_THROW(parse_scale(text), InvalidArgument) << text;
}

TEST(WhatIf, RecordingsThatCannotTellSayWhy) {
  const auto says = [](const trace::Recording& recording, const std::string& text) {
    EXPECT_THAT([&] { ask(recording, {.scale = {{"cause:forward", 1}}}); }, ThrowsMessage<Error>(HasSubstr(text)));
  };
  Maker without_steps;
  without_steps.op("aten::mm", 0, 10);
  says(without_steps.finish(), "has no steps");
  trace::Recording lossy = host_only();
  lossy.losses.push_back({.reason = trace::LossReason::kBudget, .count = 3});
  says(lossy, "3 events were lost");
  Maker without_launch;
  for (std::int64_t step = 0; step < 5; ++step) {
    without_launch.step(step, step * 10'000, 10'000);
    without_launch.op("aten::mm", step * 10'000, 5'000);
    without_launch.kernel("gemm", step * 10'000 + 100, 900, 0);
  }
  says(without_launch.finish(), "launched 100 % of the work on the device are not in the recording");
}

}  // namespace
}  // namespace mindtorch::analyze
