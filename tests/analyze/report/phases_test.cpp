// Phases: the times of a step add up, whatever happens in it.
#include "mindtorch/analyze/report/phases.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/analyze/recordings.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;

std::int64_t host(const StepPhases& step, Cause phase) { return step.host[static_cast<std::size_t>(phase)]; }

template <class Times>
std::int64_t sum(const Times& times) {
  return std::accumulate(times.begin(), times.end(), std::int64_t{0});
}

TEST(Phases, ATrainingStepIsDividedByWhatItDoes) {
  Maker maker;
  maker.step(1, 0, 1000);
  maker.scope("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 200);
  maker.op("aten::stack", 50, 100);
  maker.scope("my forward", 200, 300);
  maker.op("aten::linear", 210, 100);
  maker.op("aten::addmm", 220, 50);
  maker.op("aten::item", 320, 30);
  maker.op("aten::_local_scalar_dense", 325, 20);
  maker.op("autograd::engine::evaluate_function: MmBackward0", 500, 100);
  maker.op("MmBackward0", 510, 80, EventKind::kBackward);
  maker.scope("Optimizer.step#SGD.step", 700, 200);
  maker.op("aten::copy_", 750, 50);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Phases phases(analysis);
  ASSERT_EQ(phases.steps().size(), 1U);
  const StepPhases& step = phases.steps()[0];
  EXPECT_EQ(host(step, Cause::kLoading), 200);
  EXPECT_EQ(host(step, Cause::kForward), 130) << "without a device, .item() waits for nothing";
  EXPECT_EQ(host(step, Cause::kBackward), 100);
  EXPECT_EQ(host(step, Cause::kOptimizer), 200) << "a copy inside of the optimizer is part of it";
  EXPECT_EQ(host(step, Cause::kUnknown), 370);
  EXPECT_EQ(sum(step.host), 1000);
  EXPECT_FALSE(phases.has_device_work());
}

TEST(Phases, ACopyAndACollectiveInTheBackwardPassCountForThemselves) {
  Maker maker;
  maker.step(1, 0, 100);
  maker.op("MmBackward0", 10, 80, EventKind::kBackward);
  maker.op("aten::copy_", 20, 10);
  maker.scope("nccl:all_reduce", 40, 20);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const StepPhases step = Phases(analysis).steps()[0];
  EXPECT_EQ(host(step, Cause::kBackward), 50);
  EXPECT_EQ(host(step, Cause::kCopy), 10);
  EXPECT_EQ(host(step, Cause::kCollective), 20);
  EXPECT_EQ(sum(step.host), 100);
}

TEST(Phases, BackwardOnAnotherThreadTakesTheTimeInWhichTheMainThreadOnlyWaits) {
  Maker maker;
  maker.step(1, 0, 100);
  maker.op("aten::mm", 0, 40);
  const trace::TrackId other = maker.builder().add_thread(200);
  maker.add({.name = "MmBackward0", .kind = EventKind::kBackward, .track = other, .start_ns = 30, .duration_ns = 50});
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const StepPhases step = Phases(analysis).steps()[0];
  EXPECT_EQ(host(step, Cause::kForward), 40);
  EXPECT_EQ(host(step, Cause::kBackward), 40) << "from 40 to 80: before that, the main thread worked itself";
  EXPECT_EQ(host(step, Cause::kUnknown), 20);
}

TEST(Phases, TheTimeOfADeviceIsDividedToo) {
  Maker maker;
  maker.step(1, 0, 100);
  maker.kernel("mm", 10, 30, 1);
  maker.kernel("copy", 30, 30, 2, EventKind::kMemcpy);
  maker.kernel("ncclDevKernel_AllReduce", 50, 40, 3);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Phases phases(analysis);
  const StepPhases& step = phases.steps()[0];
  ASSERT_TRUE(phases.has_device_work());
  EXPECT_EQ(step.device, (std::array<std::int64_t, kDevicePhases>{30, 20, 30, 20}));
  EXPECT_EQ(sum(step.device), 100);
}

TEST(Phases, WithoutStepsTheWholeRecordingIsOne) {
  Maker maker;
  maker.op("aten::mm", 50, 40);
  maker.op("aten::mm", 110, 40);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Phases phases(analysis);
  EXPECT_FALSE(phases.has_steps());
  ASSERT_EQ(phases.steps().size(), 1U);
  EXPECT_EQ(host(phases.steps()[0], Cause::kForward), 80);
  EXPECT_EQ(phases.steps()[0].start_ns, 50);
}

TEST(Phases, AnEmptyRecordingHasOneEmptyStep) {
  const trace::Recording recording;
  const Analysis analysis(recording);
  const Phases phases(analysis);
  EXPECT_EQ(phases.steps().size(), 1U);
  EXPECT_EQ(phases.steps()[0].duration_ns, 0);
}

TEST(Phases, TheTimesOfAnyRecordingAddUp) {
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    const trace::Recording recording = random_recording(seed, 200, 1);
    const Analysis analysis(recording);
    const StepPhases step = Phases(analysis).steps()[0];
    EXPECT_EQ(sum(step.host), step.duration_ns) << "seed " << seed;
  }
}

TEST(Phases, ARecordingWithoutStepsIsCutIntoSlicesOfTime) {
  Maker maker;
  maker.op("aten::mm", 0, 250);
  maker.op("Optimizer.step#SGD.step", 250, 750);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Phases phases(analysis);
  EXPECT_FALSE(phases.has_steps());
  ASSERT_EQ(phases.slices().size(), 50U) << "slices of 20 ns";
  EXPECT_EQ(host(phases.slices()[12], Cause::kForward), 10) << "an op counts in each slice in which it runs";
  EXPECT_EQ(host(phases.slices()[12], Cause::kOptimizer), 10);
  for (const StepPhases& slice : phases.slices()) EXPECT_EQ(sum(slice.host), 20);
}

TEST(Phases, ARecordingWithStepsHasNoSlices) {
  Maker maker;
  maker.step(0, 0, 100);
  maker.op("aten::mm", 10, 50);
  const trace::Recording recording = maker.finish();
  EXPECT_TRUE(Phases(Analysis(recording)).slices().empty());
}

// A server: its main thread waits for requests, which threads of a pool handle.
TEST(Phases, ThreadsOfAPoolAreJudgedIfTheMainThreadHasLessToDo) {
  Maker maker;
  trace::RecordingBuilder& builder = maker.builder();
  const auto sample = [&](trace::TrackId track, std::int64_t duration, trace::ThreadState state, std::string_view file,
                          std::string_view function) {
    const trace::Frame frame{builder.intern(file), builder.intern(function), 1};
    const std::vector<trace::Frame> frames = {frame, {builder.intern("server.py"), builder.intern("main"), 9}};
    builder.add_sample(0, duration, track, frames, state);
  };
  sample(maker.thread(), 1000, trace::ThreadState::kWaitsForIo, "/usr/lib/python3.12/socketserver.py", "serve_forever");
  const trace::TrackId first = builder.add_thread(200, "handler-1"), second = builder.add_thread(201, "handler-2");
  sample(first, 400, trace::ThreadState::kRunning, "server.py", "render");
  sample(second, 300, trace::ThreadState::kRunning, "server.py", "render");
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Phases phases(analysis);
  EXPECT_EQ(phases.judged_tracks(), (std::vector<trace::TrackId>{first, second}));
  EXPECT_EQ(phases.main_track(), first) << "the busiest of them";
}

TEST(Phases, AnOpThatOutlastsItsStepCountsInBothSteps) {
  Maker maker;
  maker.step(0, 0, 100);
  maker.step(1, 100, 100);
  maker.op("aten::mm", 80, 60);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Phases phases(analysis);
  EXPECT_EQ(host(phases.steps()[0], Cause::kForward), 20);
  EXPECT_EQ(host(phases.steps()[1], Cause::kForward), 40);
}

}  // namespace
}  // namespace mindtorch::analyze
