// Profile when something goes wrong: misuse, callbacks that throw, recorders that refuse. Afterwards the profile must be usable.
#include <gmock/gmock.h>

#include "mindtorch/profiler/profile.h"
#include "tests/profiler/profile_fixture.h"

namespace mindtorch::profiler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(ProfileTest, StepWithoutStartIsAnError) {
  auto profile = make({});
  EXPECT_THAT(error_of<Error>([&] { profile->step(); }), HasSubstr("[profiler.step] profiler session is not active"));
  EXPECT_EQ(profile->step_num(), 0);
}

TEST_F(ProfileTest, StepAfterStopIsAnError) {
  auto profile = make({});
  profile->start();
  profile->stop();
  EXPECT_THAT(error_of<Error>([&] { profile->step(); }), HasSubstr("not active"));
}

TEST_F(ProfileTest, StopBeforeStartFailsWithTorchsText) {
  for (const char* letters : {"N", "W", "R"}) {
    auto profile = make_scheduled(letters);
    EXPECT_EQ(error_of<AssertionFailed>([&] { profile->stop(); }), "Profiler must be initialized before stopping trace");
  }
  EXPECT_THAT(script_.take(), IsEmpty());
}

TEST_F(ProfileTest, ASecondStopIsAnErrorAndLosesNothing) {
  for (const char* letters : {"N", "R"}) {
    auto profile = make_scheduled(letters);
    profile->start();
    script_.op();
    profile->stop();
    const auto before = profile->recording()->events.size();
    script_.take();
    EXPECT_EQ(error_of<Error>([&] { profile->stop(); }), "[profiler.stop] the profiler is already stopped");
    EXPECT_THAT(script_.take(), IsEmpty());
    EXPECT_EQ(profile->recording()->events.size(), before);
  }
}

TEST_F(ProfileTest, ASecondStartIsAnErrorAndTheTraceGoesOn) {
  auto profile = make({});
  profile->start();
  script_.take();
  EXPECT_EQ(error_of<Error>([&] { profile->start(); }), "[profiler.start] the profiler is already running: call stop() first");
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

TEST_F(ProfileTest, CallsFromInsideACallbackAreRefusedAndHarmless) {
  std::vector<std::string> errors;
  auto profile = make({.on_trace_ready = [&](Profile& p) {
    errors.push_back(error_of<Error>([&] { p.step(); }));
    errors.push_back(error_of<Error>([&] { p.start(); }));
    errors.push_back(error_of<Error>([&] { p.stop(); }));
    errors.push_back(error_of<Error>([&] { p.prepare_trace(); }));
    errors.push_back(error_of<Error>([&] { p.start_trace(); }));
    errors.push_back(error_of<Error>([&] { p.stop_trace(); }));
  }});
  profile->start();
  profile->stop();
  EXPECT_THAT(errors, ElementsAre("[profiler.step] called from inside a callback of the same profile",
                                  "[profiler.start] called from inside a callback of the same profile",
                                  "[profiler.stop] called from inside a callback of the same profile",
                                  "[profiler.prepare_trace] called from inside a callback of the same profile",
                                  "[profiler.start_trace] called from inside a callback of the same profile",
                                  "[profiler.stop_trace] called from inside a callback of the same profile"));
  profile->start();
  profile->stop();
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
