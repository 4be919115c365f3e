// SessionRecorder: options, sources and step scopes as the session gets them.
#include "mindtorch/profiler/session_recorder.h"

#include <gmock/gmock.h>

#include <chrono>

#include "mindtorch/base/error.h"
#include "mindtorch/record/names.h"
#include "tests/profiler/fake_source.h"
#include "tests/profiler/names_of.h"
#include "tests/support/emulator.h"

namespace mindtorch::profiler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using trace::DeviceType;
using trace::EventKind;

TEST(SessionRecorder, RecordsScopesBetweenStartAndStop) {
  SessionRecorder recorder({});
  recorder.prepare({}, {Activity::kCpu});
  { record::NamedScope early("early"); }
  recorder.start();
  { record::NamedScope scope("inside"); }
  const trace::Recording recording = recorder.stop();
  { record::NamedScope late("late"); }
  EXPECT_THAT(names_of(recording), ElementsAre("inside"));
}

TEST(SessionRecorder, ASnapshotHoldsWhatWasRecordedSoFar) {
  SessionRecorder recorder({});
  recorder.prepare({}, {Activity::kCpu});
  recorder.start();
  { record::NamedScope scope("first"); }
  EXPECT_THAT(names_of(recorder.snapshot(std::chrono::nanoseconds::max())), ElementsAre("first"));
  { record::NamedScope scope("second"); }
  EXPECT_THAT(names_of(recorder.stop()), ElementsAre("first", "second"));
  EXPECT_THROW(recorder.snapshot(std::chrono::nanoseconds::max()), Error);
}

TEST(SessionRecorder, StepScopesAreNamedAsInTorchAndAreOfTheirOwnKind) {
  SessionRecorder recorder({});
  recorder.prepare({}, {Activity::kCpu});
  recorder.start();
  recorder.open_step_scope(7);
  recorder.close_step_scope();
  recorder.open_step_scope(8);
  const trace::Recording recording = recorder.stop();
  ASSERT_THAT(names_of(recording), ElementsAre("ProfilerStep#7", "ProfilerStep#8"));
  EXPECT_EQ(recording.events.kind[0], EventKind::kStep);
  EXPECT_EQ(recording.events.flags[1] & trace::kUnfinished, 0) << "closed by stop";
}

TEST(SessionRecorder, TheStepsOfALongRunLeaveNoNamesBehind) {
  if (tests::is_emulated()) GTEST_SKIP() << "the counter of qemu advances once in a microsecond, so that several steps begin at one time";
  SessionRecorder recorder({});
  recorder.prepare({}, {Activity::kCpu});
  recorder.start();
  recorder.open_step_scope(1);
  const std::size_t names = record::name_count();
  for (int step = 2; step < 100; ++step) recorder.open_step_scope(step);
  EXPECT_EQ(record::name_count(), names);
  const trace::Recording recording = recorder.stop();
  EXPECT_EQ(recording.name(98), "ProfilerStep#99");
  EXPECT_EQ(trace::step_of(recording.events.link[98]), 99);
}

TEST(SessionRecorder, FlagsReachTheSessionAndFlopsNeedShapes) {
  const auto options_of = [](const ProfileOptions& options) {
    SessionRecorder recorder({});
    recorder.prepare(options, {Activity::kCpu});
    recorder.start();
    return recorder.stop().options;
  };
  EXPECT_EQ(options_of({}), trace::RecordedOptions{});
  EXPECT_TRUE(options_of({.record_shapes = true}).shapes);
  EXPECT_TRUE(options_of({.with_flops = true}).shapes);
  EXPECT_TRUE(options_of({.profile_memory = true}).memory);
  EXPECT_TRUE(options_of({.with_stack = true}).stacks);
  EXPECT_TRUE(options_of({.with_modules = true}).modules);
}

TEST(SessionRecorder, AnotherRecorderIsEmptyAndTheFirstIsUnharmed) {
  SessionRecorder first({}), second({});
  first.prepare({}, {Activity::kCpu});
  second.prepare({}, {Activity::kCpu});
  first.start();
  second.start();
  EXPECT_THAT(second.problems(), ElementsAre(HasSubstr("Another profiling session is active")));
  second.mark_step(1);
  second.open_step_scope(1);
  { record::NamedScope scope("kept"); }
  EXPECT_THAT(names_of(second.stop()), IsEmpty());
  EXPECT_THAT(names_of(first.stop()), ElementsAre("kept"));
  second.prepare({}, {Activity::kCpu});
  second.discard();
  first.prepare({}, {Activity::kCpu});
}

TEST(SessionRecorder, ASessionThatHasEndedByTheStartIsNoObstacle) {
  SessionRecorder first({}), second({});
  first.prepare({}, {Activity::kCpu});
  second.prepare({}, {Activity::kCpu});
  first.discard();
  second.start();
  { record::NamedScope scope("kept"); }
  EXPECT_THAT(second.problems(), IsEmpty());
  EXPECT_THAT(names_of(second.stop()), ElementsAre("kept"));
}

TEST(SessionRecorder, WithoutAnActivityThatCanBeRecordedThereIsNothingToDo) {
  SessionRecorder recorder({});
  EXPECT_THROW(recorder.prepare({}, {Activity::kXpu, Activity::kHpu}), ArgumentAssertion);
  recorder.prepare({}, {Activity::kCpu, Activity::kXpu});
  EXPECT_THAT(recorder.problems(), ElementsAre("XPU is not available, disabling XPU profiling (no source watches it)"));
  recorder.start();
  recorder.toggle(Activity::kXpu, false);
  { record::NamedScope scope("host"); }
  EXPECT_THAT(names_of(recorder.stop()), ElementsAre("host"));
}

TEST(SessionRecorder, TheFirstSourceThatCanWatchADeviceDoes) {
  FakeSource broken("broken", DeviceType::kNpu, "no driver"), good("good", DeviceType::kNpu), spare("spare", DeviceType::kNpu);
  SessionRecorder recorder({&broken, &good, &spare});
  recorder.prepare({}, {Activity::kCpu, Activity::kNpu});
  EXPECT_THAT(recorder.problems(), IsEmpty());
  recorder.start();
  recorder.toggle(Activity::kNpu, false);
  recorder.toggle(Activity::kNpu, true);
  EXPECT_THAT(names_of(recorder.stop()), ElementsAre("good_kernel"));
  EXPECT_EQ(broken.starts + spare.starts, 0);
  EXPECT_THAT(good.toggles, ElementsAre(false, true));
}

TEST(SessionRecorder, ADeviceNobodyCanWatchIsAProblemWithItsReasonsAndRecordingGoesOn) {
  FakeSource broken("cupti", DeviceType::kCuda, "libcupti.so was not found");
  SessionRecorder recorder({&broken});
  recorder.prepare({}, {Activity::kCpu, Activity::kCuda, Activity::kNpu});
  EXPECT_THAT(recorder.problems(), ElementsAre("CUDA is not available, disabling CUDA profiling (cupti: libcupti.so was not found)",
                                               "NPU is not available, disabling NPU profiling (no source watches it)"));
  recorder.start();
  { record::NamedScope scope("host"); }
  EXPECT_THAT(names_of(recorder.stop()), ElementsAre("host"));
}

TEST(SessionRecorder, SourcesOfDevicesThatWereNotAskedForAreLeftAlone) {
  FakeSource npu("npu", DeviceType::kNpu);
  SessionRecorder recorder({&npu});
  recorder.prepare({}, {Activity::kCpu});
  recorder.start();
  recorder.stop();
  EXPECT_EQ(npu.starts, 0);
}

TEST(SessionRecorder, WithoutTheCpuOnlyTheDeviceIsRecorded) {
  FakeSource npu("npu", DeviceType::kNpu);
  SessionRecorder recorder({&npu});
  recorder.prepare({}, {Activity::kNpu});
  recorder.start();
  { record::NamedScope scope("host"); }
  EXPECT_THAT(names_of(recorder.stop()), ElementsAre("npu_kernel"));
}

TEST(SessionRecorder, HostEventsCanBeSwitchedOffAndOn) {
  SessionRecorder recorder({});
  recorder.prepare({}, {Activity::kCpu});
  recorder.start();
  { record::NamedScope scope("a"); }
  recorder.toggle(Activity::kCpu, false);
  { record::NamedScope scope("b"); }
  recorder.toggle(Activity::kCpu, true);
  { record::NamedScope scope("c"); }
  EXPECT_THAT(names_of(recorder.stop()), ElementsAre("a", "c"));
}

}  // namespace
}  // namespace mindtorch::profiler
