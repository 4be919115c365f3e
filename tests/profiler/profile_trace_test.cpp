// Profile's traces one by one: prepare_trace, start_trace, stop_trace, ids, observers, toggles, cost.
#include <gmock/gmock.h>

#include "mindtorch/profiler/profile.h"
#include "tests/profiler/profile_fixture.h"

namespace mindtorch::profiler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(ProfileTest, TracePartsCanBeCalledOneByOne) {
  auto profile = make({});
  profile->prepare_trace();
  profile->start_trace();
  EXPECT_TRUE(profile->recording_now());
  script_.op();
  profile->stop_trace();
  EXPECT_THAT(script_.take(), ElementsAre("prepare", "start", "mark 0", "stop")) << "without on_trace_ready, which belongs to stop()";
  EXPECT_EQ(profile->recording()->events.size(), 1U);
}

TEST_F(ProfileTest, TracePartsBeforePrepareFailWithTorchsTexts) {
  auto profile = make({.execution_trace_observer = std::make_shared<FakeObserver>(script_)});
  EXPECT_EQ(error_of<AssertionFailed>([&] { profile->start_trace(); }), "Profiler must be initialized before starting trace");
  EXPECT_EQ(error_of<AssertionFailed>([&] { profile->stop_trace(); }), "Profiler must be initialized before stopping trace");
  EXPECT_THAT(script_.take(), IsEmpty());
}

TEST_F(ProfileTest, TracePartsInTheWrongOrderHaveNoEffectAndTheTraceGoesOn) {
  auto profile = make({});
  profile->prepare_trace();
  profile->stop_trace();
  profile->start_trace();
  profile->start_trace();
  profile->prepare_trace();
  profile->start();
  EXPECT_THAT(heard_, ElementsAre("stop_trace() of a profile was called while no trace runs and has no effect.",
                                  "start_trace() of a profile was called while a trace runs: it goes on.",
                                  "prepare_trace() of a profile was called while a trace runs: it goes on.",
                                  "start() of a profile was called while the profile runs: it goes on."));
  script_.op();
  profile->stop_trace();
  EXPECT_EQ(profile->recording()->events.size(), 1U);
}

TEST_F(ProfileTest, ASnapshotIsWhatWasRecordedSoFarAndTheTraceGoesOn) {
  auto profile = make({.custom_trace_id_callback = [number = 0]() mutable { return fmt::format("id {}", ++number); }});
  profile->start();
  profile->add_metadata("run", "7");
  script_.op();
  script_.take();
  const trace::Recording snapshot = profile->snapshot();
  EXPECT_THAT(script_.take(), ElementsAre("snapshot"));
  EXPECT_EQ(snapshot.events.size(), 1U);
  EXPECT_EQ(snapshot.trace_id, "id 2");
  EXPECT_EQ(snapshot.metadata.at("run"), "\"7\"");
  EXPECT_EQ(profile->get_trace_id(), "id 1");
  script_.op();
  profile->stop();
  EXPECT_EQ(profile->recording()->events.size(), 2U);
}

TEST_F(ProfileTest, ASnapshotNeedsAProfileThatRecords) {
  auto profile = make({});
  EXPECT_THAT(error_of<Error>([&] { static_cast<void>(profile->snapshot()); }), HasSubstr("not recording"));
}

TEST_F(ProfileTest, PreparingTwiceBeginsAnew) {
  auto profile = make({});
  profile->prepare_trace();
  profile->prepare_trace();
  EXPECT_THAT(script_.take(), ElementsAre("prepare", "discard", "prepare"));
}

TEST_F(ProfileTest, StopEndsATraceThatWasStartedByItsParts) {
  auto profile = make({});
  profile->prepare_trace();
  profile->start_trace();
  profile->step();
  profile->stop();
  EXPECT_THAT(take_trace_calls(), ElementsAre("prepare", "start", "stop", "ready"));
  auto waiting = make_scheduled("N");
  waiting->prepare_trace();
  waiting->start_trace();
  waiting->stop();
  EXPECT_THAT(take_trace_calls(), ElementsAre("prepare", "start", "stop"));
  auto prepared = make({});
  prepared->prepare_trace();
  prepared->stop();
  EXPECT_THAT(take_trace_calls(), ElementsAre("prepare", "discard"));
}

TEST_F(ProfileTest, TheTraceIdIsNewInEachCycleAndWrittenIntoItsRecording) {
  std::vector<std::string> ids;
  auto profile = make({.schedule = scripted("SSSN"), .on_trace_ready = [&](Profile& p) {
                         EXPECT_EQ(p.recording()->trace_id, p.get_trace_id());
                         ids.push_back(p.recording()->trace_id);
                       }});
  EXPECT_EQ(profile->get_trace_id(), std::nullopt);
  profile->start();
  for (int i = 0; i < 3; ++i) profile->step();
  ASSERT_EQ(ids.size(), 3U);
  EXPECT_EQ(ids[0].size(), 32U);
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_NE(ids[1], ids[2]);
  EXPECT_EQ(profile->get_trace_id(), ids[2]);
}

TEST_F(ProfileTest, TheTraceIdCallbackIsCalledOnceACycleAndMayBeChanged) {
  int called = 0;
  auto profile = make({.schedule = scripted("WSSS"), .custom_trace_id_callback = [&] { return fmt::format("id-{}", ++called); }});
  profile->start();
  EXPECT_EQ(profile->get_trace_id(), "id-1");
  profile->step();
  EXPECT_EQ(profile->get_trace_id(), "id-1") << "prepared in the warm-up, started now";
  profile->step();
  EXPECT_EQ(profile->get_trace_id(), "id-2");
  profile->set_custom_trace_id_callback([] { return "mine"; });
  EXPECT_EQ(profile->get_trace_id(), "id-2");
  profile->step();
  EXPECT_EQ(profile->get_trace_id(), "mine");
  profile->stop();
  EXPECT_EQ(profile->recording()->trace_id, "mine");
  EXPECT_EQ(called, 2);
}

TEST_F(ProfileTest, ATraceIdCallbackThatThrowsLeavesNothingPrepared) {
  auto profile = make({.custom_trace_id_callback = []() -> std::string { throw std::range_error("no id"); }});
  EXPECT_EQ(error_of<std::range_error>([&] { profile->start(); }), "no id");
  EXPECT_THAT(script_.take(), IsEmpty());
  profile->set_custom_trace_id_callback({});
  profile->start();
  EXPECT_TRUE(profile->recording_now());
}

TEST_F(ProfileTest, TheObserverStartsAndStopsOnceATraceAndIsCleanedUpAtTheEnd) {
  auto profile = make({.schedule = scripted("WSSN"), .execution_trace_observer = std::make_shared<FakeObserver>(script_)});
  profile->start();
  for (int i = 0; i < 4; ++i) profile->step();
  profile->close();
  CallLog calls = script_.take();
  std::erase_if(calls, [](const std::string& call) { return !call.starts_with("observer"); });
  EXPECT_THAT(calls, ElementsAre("observer start", "observer stop", "observer start", "observer stop", "observer cleanup"));
}

TEST_F(ProfileTest, TogglingReachesTheRunningTrace) {
  auto profile = make({.activities = {Activity::kCpu, Activity::kNpu}});
  profile->toggle_collection_dynamic(false, {Activity::kCpu});
  profile->start();
  script_.take();
  profile->toggle_collection_dynamic(false, {Activity::kCpu, Activity::kNpu});
  profile->toggle_collection_dynamic(true, {Activity::kCpu});
  profile->toggle_collection_dynamic(true, {Activity::kCuda});
  EXPECT_THAT(script_.take(), ElementsAre("toggle CPU off", "toggle NPU off", "toggle CPU on")) << "CUDA is not recorded by this profile";
  profile->stop();
  script_.take();
  profile->toggle_collection_dynamic(false, {Activity::kCpu});
  EXPECT_THAT(script_.take(), IsEmpty());
}

TEST_F(ProfileTest, DevicesThatCannotBeWatchedAreAWarningAndRecordingGoesOn) {
  script_.problems = {"NPU is not available, disabling NPU profiling: no driver"};
  auto profile = make({.activities = {Activity::kCpu, Activity::kNpu}, .schedule = scripted("SSS"), .acc_events = true});
  profile->start();
  profile->step();
  profile->stop();
  EXPECT_THAT(heard_, ElementsAre(script_.problems[0])) << "said once, not in each cycle";
  EXPECT_THAT(profile->warnings(), ElementsAre(Warning{WarningCategory::kUser, script_.problems[0]}));
}

TEST_F(ProfileTest, TheRecordingSaysWhatWasAskedFor) {
  auto profile = make({.activities = {Activity::kNpu, Activity::kCpu}, .with_flops = true});
  profile->start();
  profile->stop();
  const auto& options = profile->recording()->options;
  EXPECT_TRUE(options.flops);
  EXPECT_THAT(options.activities, ElementsAre(trace::DeviceType::kCpu, trace::DeviceType::kNpu));
}

TEST_F(ProfileTest, TheCostOfTheLastTraceIsMeasured) {
  auto profile = make({});
  profile->start();
  script_.op();
  script_.op();
  profile->stop();
  EXPECT_EQ(profile->overhead().events, 2U);
  EXPECT_EQ(profile->overhead().bytes, 64);
  EXPECT_GE(profile->overhead().window_ns, 0);
}

}  // namespace
}  // namespace mindtorch::profiler
