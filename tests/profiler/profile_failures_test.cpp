// Profile when something goes wrong: misuse, callbacks that throw, recorders that refuse. Afterwards the profile must be usable.
#include <gmock/gmock.h>

#include "mindtorch/profiler/profile.h"
#include "tests/profiler/profile_fixture.h"

namespace mindtorch::profiler {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(ProfileTest, AStepBeforeStartFollowsTheScheduleAndWarnsOnce) {
  auto profile = make_scheduled("NRN");
  profile->step();
  EXPECT_TRUE(script_.running);
  profile->step();
  EXPECT_FALSE(script_.running);
  EXPECT_EQ(profile->step_num(), 2);
  EXPECT_THAT(heard_, ElementsAre(HasSubstr("step() of a profile was called before start()"), HasSubstr("RECORD followed by NONE")));
}

TEST_F(ProfileTest, StepsAfterStopAreCountedWithOneWarning) {
  auto profile = make_scheduled("RRNR");
  profile->start();
  profile->stop();
  script_.take();
  profile->step();
  profile->step();
  EXPECT_EQ(profile->step_num(), 2);
  EXPECT_EQ(profile->current_action(), ProfilerAction::kNone);
  EXPECT_THAT(script_.take(), IsEmpty());
  EXPECT_THAT(heard_, ElementsAre(HasSubstr("step() of a profile was called after stop(): the step is counted and not recorded")));
  profile->start();
  profile->step();
  EXPECT_TRUE(script_.running) << "the schedule goes on";
}

TEST_F(ProfileTest, StopBeforeStartFailsWithTorchsTextIfThereIsSomethingToStop) {
  for (const char* letters : {"W", "R"}) {
    auto profile = make_scheduled(letters);
    EXPECT_EQ(error_of<AssertionFailed>([&] { profile->stop(); }), "Profiler must be initialized before stopping trace");
  }
  make_scheduled("N")->stop();
  EXPECT_THAT(script_.take(), IsEmpty());
}

TEST_F(ProfileTest, ASecondStopHasNoEffectAndLosesNothing) {
  for (const char* letters : {"N", "R"}) {
    auto profile = make_scheduled(letters);
    profile->start();
    script_.op();
    profile->stop();
    const auto before = profile->recording()->events.size();
    script_.take();
    heard_.clear();
    profile->stop();
    EXPECT_THAT(heard_, ElementsAre("stop() of a profile was called on a profile that is already stopped and has no effect."));
    EXPECT_THAT(script_.take(), IsEmpty());
    EXPECT_EQ(profile->recording()->events.size(), before);
  }
}

TEST_F(ProfileTest, ASecondStartHasNoEffectAndTheTraceGoesOn) {
  auto profile = make({});
  profile->start();
  script_.take();
  profile->start();
  EXPECT_THAT(heard_, ElementsAre("start() of a profile was called while the profile runs: it goes on."));
  EXPECT_THAT(script_.take(), IsEmpty());
  script_.op();
  profile->stop();
  EXPECT_EQ(profile->recording()->events.size(), 1U);
}

TEST_F(ProfileTest, AStartThatIsRefusedLeavesNothingRunning) {
  for (const char* refused : {"prepare", "start", "mark 0", "open 0", "observer start"}) {
    SCOPED_TRACE(refused);
    auto profile = make({.schedule = scripted("RR"), .execution_trace_observer = std::make_shared<FakeObserver>(script_)});
    script_.refused = {refused};
    EXPECT_EQ(error_of<Error>([&] { profile->start(); }), fmt::format("[test] {} refused", refused));
    EXPECT_FALSE(profile->running());
    EXPECT_FALSE(script_.running);
    const CallLog calls = script_.take();
    EXPECT_EQ(std::count(calls.begin(), calls.end(), "observer start") - (refused == std::string("observer start")),
              std::count(calls.begin(), calls.end(), "observer stop"));
    script_.refused.clear();
    profile->start();
    profile->stop();
    script_.take();
  }
}

TEST_F(ProfileTest, AnExceptionOfTheCallbackComesOutOfStepAfterTheNextCycleHasBegun) {
  for (const char* letters : {"SN", "SW", "SR", "SS"}) {
    SCOPED_TRACE(letters);
    auto profile = make_scheduled(letters);
    profile->start();
    script_.refused = {"ready"};
    EXPECT_EQ(error_of<Error>([&] { profile->step(); }), "[test] ready refused");
    script_.refused.clear();
    EXPECT_EQ(profile->step_num(), 1);
    EXPECT_EQ(profile->recording_now(), letters[1] == 'R' || letters[1] == 'S');
    EXPECT_EQ(script_.running, profile->recording_now());
    profile->stop();
    EXPECT_FALSE(script_.running);
    script_.take();
  }
}

TEST_F(ProfileTest, AnExceptionOfTheCallbackComesOutOfStopWithItsTypeAndTheDataIsKept) {
  auto profile = make({.on_trace_ready = [](Profile&) { throw std::invalid_argument("callback boom"); }});
  profile->start();
  script_.op();
  EXPECT_EQ(error_of<std::invalid_argument>([&] { profile->stop(); }), "callback boom");
  EXPECT_FALSE(profile->running());
  EXPECT_EQ(profile->recording()->events.size(), 1U);
}

TEST_F(ProfileTest, AnExceptionOfTheScheduleLeavesTheStepAsItWas) {
  auto profile = make({.schedule = [](std::int64_t step) {
    if (step == 1) throw std::domain_error("no idea");
    return ProfilerAction::kRecord;
  }});
  profile->start();
  script_.take();
  EXPECT_EQ(error_of<std::domain_error>([&] { profile->step(); }), "no idea");
  EXPECT_EQ(profile->step_num(), 0);
  EXPECT_THAT(script_.take(), IsEmpty()) << "the step's scope is still open";
  script_.op();
  profile->stop();
  EXPECT_EQ(profile->recording()->events.size(), 1U);
}

TEST_F(ProfileTest, AScheduleThatFailsForTheFirstStepFailsTheConstructor) {
  EXPECT_THROW(make({.schedule = [](std::int64_t) -> ProfilerAction { throw std::domain_error("no"); }}), std::domain_error);
}

TEST_F(ProfileTest, AScheduleThatReturnsWhatItMustNotIsRefused) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { make({.schedule = [](std::int64_t) { return ProfilerAction::kDeviceStopped; }}); }),
              HasSubstr("DEVICE_STOPPED is set internally"));
  auto profile = make({.schedule = [](std::int64_t step) { return step == 0 ? ProfilerAction::kRecord : static_cast<ProfilerAction>(9); }});
  profile->start();
  EXPECT_EQ(error_of<InvalidArgument>([&] { profile->step(); }), "[profiler.schedule] a schedule must return a ProfilerAction, got 9");
  EXPECT_EQ(profile->step_num(), 0);
}

TEST_F(ProfileTest, APrepareThatFailsInAStepIsTriedAgainWhenRecordingShouldStart) {
  auto profile = make_scheduled("NWRN");
  profile->start();
  script_.refused = {"prepare"};
  EXPECT_EQ(error_of<Error>([&] { profile->step(); }), "[test] prepare refused");
  script_.refused.clear();
  profile->step();
  EXPECT_TRUE(profile->recording_now());
  profile->stop();
}

TEST_F(ProfileTest, APrepareThatFailsIsTriedOnceAStep) {
  auto profile = make({.schedule = scripted("NR")});
  profile->start();
  script_.refused = {"prepare"};
  EXPECT_THROW(profile->step(), Error);
  EXPECT_THAT(script_.take(), ElementsAre("prepare"));
}

TEST_F(ProfileTest, AWarningTurnedIntoAnExceptionDoesNotKeepTheNextCycleFromStarting) {
  auto profile = make_scheduled("SSRWR");
  profile->start();
  set_warning_sink([](WarningCategory, const std::string& text) { throw std::runtime_error(text); });
  EXPECT_THAT(error_of<std::runtime_error>([&] { profile->step(); }), HasSubstr("Profiler clears events"));
  EXPECT_TRUE(script_.running);
  profile->step();
  EXPECT_THROW(profile->step(), std::runtime_error);
  set_warning_sink([](WarningCategory, const std::string& text) { throw std::runtime_error(text); });
  script_.problems = {"no NPU"};
  EXPECT_EQ(error_of<std::runtime_error>([&] { profile->step(); }), "no NPU");
  EXPECT_TRUE(script_.running) << "prepared again and started, whatever was said about it";
}

TEST_F(ProfileTest, ATraceThatNeverStartedIsNotShownToTheUser) {
  auto profile = make_scheduled("NSN");
  profile->start();
  script_.refused = {"start"};
  EXPECT_THROW(profile->step(), Error);
  script_.refused.clear();
  script_.take();
  profile->step();
  EXPECT_THAT(take_trace_calls(), IsEmpty());
  profile->stop();
}

TEST_F(ProfileTest, AStopThatFailsEndsTheTraceAndKeepsTheCycleBefore) {
  auto profile = make_scheduled("SS");
  profile->start();
  script_.op();
  profile->step();
  script_.refused = {"stop"};
  script_.take();
  EXPECT_EQ(error_of<Error>([&] { profile->stop(); }), "[test] stop refused");
  EXPECT_THAT(take_trace_calls(), ElementsAre("stop")) << "nothing new to show to the user";
  EXPECT_FALSE(profile->recording_now());
  EXPECT_EQ(profile->recording()->events.size(), 1U);
}

TEST_F(ProfileTest, AnObserverThatFailsToStopDoesNotKeepTheTraceFromStopping) {
  auto profile = make({.execution_trace_observer = std::make_shared<FakeObserver>(script_)});
  profile->start();
  script_.op();
  script_.refused = {"observer stop"};
  EXPECT_EQ(error_of<Error>([&] { profile->stop(); }), "[test] observer stop refused");
  EXPECT_THAT(take_trace_calls(), ElementsAre("prepare", "observer start", "start", "observer stop", "stop", "ready"));
  EXPECT_EQ(profile->recording()->events.size(), 1U);
}

TEST_F(ProfileTest, AWarningTurnedIntoAnExceptionComesOutOfTheStepThatCausedIt) {
  auto profile = make_scheduled("RNR");
  profile->start();
  set_warning_sink([](WarningCategory, const std::string& text) { throw std::runtime_error(text); });
  EXPECT_EQ(error_of<std::runtime_error>([&] { profile->step(); }), "Incorrect schedule: RECORD followed by NONE");
  EXPECT_FALSE(script_.running);
  set_warning_sink({});
  profile->step();
  EXPECT_TRUE(script_.running);
}

TEST_F(ProfileTest, CallsFromInsideACallbackHaveNoEffectAndAreHarmless) {
  auto profile = make({.on_trace_ready = [&](Profile& p) {
    p.start();
    p.prepare_trace();
    p.start_trace();
    p.stop_trace();
    p.step();
  }});
  profile->start();
  profile->stop();
  EXPECT_EQ(heard_.size(), 5U);
  EXPECT_THAT(heard_, Each(HasSubstr("of a profile was called from inside a callback of the same profile")));
  EXPECT_EQ(profile->step_num(), 1);
  EXPECT_FALSE(profile->running());
  profile->start();
  profile->stop();
}

TEST_F(ProfileTest, AStopFromInsideACallbackEndsTheProfileWithTheStep) {
  int ready = 0;
  auto profile = make({.schedule = scripted("SRS"), .on_trace_ready = [&](Profile& p) {
                         ++ready;
                         p.stop();
                       }});
  profile->start();
  script_.op();
  profile->step();
  EXPECT_FALSE(profile->running());
  EXPECT_FALSE(script_.running);
  EXPECT_EQ(profile->recording()->events.size(), 1U) << "the next cycle was not begun";
  profile->close();
  EXPECT_EQ(ready, 1);
}

TEST_F(ProfileTest, AnOwnerMayMakeTheCallsOfStepsItself) {
  int made = 0;
  auto profile = make_scheduled("WRSN");
  profile->set_trace_calls([&](TraceCall call) {
    ++made;
    switch (call) {
      case TraceCall::kPrepare: return profile->prepare_trace();
      case TraceCall::kStart: return profile->start_trace();
      default: return profile->stop_trace();
    }
  });
  profile->start();
  profile->step();
  profile->step();
  script_.op();
  profile->step();
  EXPECT_THAT(take_trace_calls(), ElementsAre("prepare", "start", "stop", "ready"));
  EXPECT_EQ(made, 3);
  EXPECT_EQ(profile->recording()->events.size(), 1U);
  EXPECT_THAT(heard_, IsEmpty());
}

TEST_F(ProfileTest, DestructionTurnsWhatTheCallbackThrowsIntoAWarning) {
  make({.on_trace_ready = [](Profile&) { throw std::runtime_error("disk full"); }})->start();
  EXPECT_THAT(heard_, ElementsAre("A profile failed to close while it was destroyed: disk full"));
  set_warning_sink([](WarningCategory, const std::string&) { throw 1; });
  make({.on_trace_ready = [](Profile&) { throw std::runtime_error("disk full"); }})->start();
}

TEST_F(ProfileTest, ANegativeTimeoutIsRefusedWithTorchsText) {
  EXPECT_EQ(error_of<InvalidArgument>([&] { make({.post_processing_timeout_s = -0.5}); }),
            "post_processing_timeout_s must be non-negative");
  make({.post_processing_timeout_s = 0.0});
}

TEST_F(ProfileTest, AnEmptyListOfActivitiesIsRefusedByTheConstructor) {
  EXPECT_EQ(error_of<ArgumentAssertion>([&] { make({.activities = Activities(std::vector<Activity>{})}); }),
            "No valid profiler activities found");
}

}  // namespace
}  // namespace mindtorch::profiler
