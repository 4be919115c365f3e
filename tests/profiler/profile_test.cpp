// Profile's state machine, driven over a fake recorder: torch's transitions, steps and counts.
#include "mindtorch/profiler/profile.h"

#include <gmock/gmock.h>

#include "tests/profiler/profile_fixture.h"

namespace mindtorch::profiler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Pair {
  std::string from_to;
  CallLog calls;
  std::string warning;
};

// Every pair of actions that a schedule can return.
const std::vector<Pair> kPairs = {
    {"NN", {}, ""},
    {"NW", {"prepare"}, ""},
    {"NR", {"prepare", "start"}, ""},
    {"NS", {"prepare", "start"}, ""},
    {"WN", {"start", "stop"}, "Incorrect schedule: WARMUP followed by NONE"},
    {"WW", {}, ""},
    {"WR", {"start"}, ""},
    {"WS", {"start"}, ""},
    {"RN", {"stop"}, "Incorrect schedule: RECORD followed by NONE"},
    {"RW", {"stop"}, "Incorrect schedule: RECORD followed by WARMUP"},
    {"RR", {}, ""},
    {"RS", {}, ""},
    {"SN", {"stop", "ready"}, ""},
    {"SW", {"stop", "ready", "prepare"}, ""},
    {"SR", {"stop", "ready", "prepare", "start"}, ""},
    {"SS", {"stop", "ready", "prepare", "start"}, ""},
};

TEST_F(ProfileTest, EveryPairOfActionsMakesTorchsCallsInTorchsOrder) {
  for (const Pair& pair : kPairs) {
    SCOPED_TRACE(pair.from_to);
    auto profile = make_scheduled(pair.from_to);
    profile->start();
    script_.take();
    heard_.clear();
    profile->step();
    EXPECT_EQ(take_trace_calls(), pair.calls);
    std::erase_if(heard_, [](const std::string& text) { return text.starts_with("Warning: Profiler clears"); });
    EXPECT_EQ(heard_, pair.warning.empty() ? std::vector<std::string>{} : std::vector{pair.warning});
    profile->stop();
  }
}

TEST_F(ProfileTest, StoppingMakesTorchsCallsForEveryAction) {
  const std::vector<Pair> ends = {{"N", {}, ""}, {"W", {"start", "stop"}, ""}, {"R", {"stop", "ready"}, ""}, {"S", {"stop", "ready"}, ""}};
  for (const Pair& end : ends) {
    SCOPED_TRACE(end.from_to);
    auto profile = make_scheduled(end.from_to);
    profile->start();
    script_.take();
    profile->stop();
    EXPECT_EQ(take_trace_calls(), end.calls);
    EXPECT_FALSE(profile->running());
    EXPECT_FALSE(profile->recording_now());
  }
}

TEST_F(ProfileTest, WithoutAScheduleEveryStepIsRecordedAndTheUserIsCalledOnce) {
  auto profile = make({});
  profile->start();
  for (int i = 0; i < 5; ++i) profile->step();
  EXPECT_EQ(profile->current_action(), ProfilerAction::kRecord);
  profile->stop();
  EXPECT_THAT(script_.take(), ElementsAre("prepare", "start", "mark 0", "mark 1", "mark 2", "mark 3", "mark 4", "mark 5", "stop", "ready"));
}

TEST_F(ProfileTest, StepsAreScopesOnlyWithASchedule) {
  EXPECT_FALSE(make({})->record_steps());
  auto profile = make_scheduled("NWRS");
  EXPECT_TRUE(profile->record_steps());
  profile->start();
  for (int i = 0; i < 4; ++i) profile->step();
  profile->stop();
  EXPECT_THAT(script_.take(), ElementsAre("prepare", "start", "mark 2", "open 2", "close", "mark 3", "open 3", "close", "stop", "ready"));
}

TEST_F(ProfileTest, ARunningTraceIsMarkedWithTheStepItStartsIn) {
  auto profile = make_scheduled("SS");
  profile->start();
  profile->step();
  EXPECT_THAT(script_.take(),
              ElementsAre("prepare", "start", "mark 0", "open 0", "close", "stop", "ready", "prepare", "start", "mark 1", "open 1"));
}

TEST_F(ProfileTest, StepNumberAndActionFollowTheScheduleBeforeTheUserIsCalled) {
  std::vector<std::pair<std::int64_t, ProfilerAction>> seen;
  auto profile =
      make({.schedule = scripted("SSN"), .on_trace_ready = [&](Profile& p) { seen.emplace_back(p.step_num(), p.current_action()); }});
  EXPECT_EQ(profile->step_num(), 0);
  EXPECT_EQ(profile->current_action(), ProfilerAction::kRecordAndSave);
  profile->start();
  profile->step();
  profile->step();
  profile->stop();
  EXPECT_THAT(seen, ElementsAre(std::pair(1, ProfilerAction::kRecordAndSave), std::pair(2, ProfilerAction::kNone)));
}

TEST_F(ProfileTest, ARecordThatFallsBackToWarmupIsPreparedAgainWhenItStarts) {
  auto profile = make_scheduled("RWR");
  profile->start();
  profile->step();
  script_.take();
  profile->step();
  EXPECT_THAT(take_trace_calls(), ElementsAre("prepare", "start"));
}

TEST_F(ProfileTest, StartMayBeCalledAgainAfterStopAndTheStepNumberGoesOn) {
  auto profile = make({});
  profile->start();
  profile->step();
  profile->stop();
  script_.take();
  profile->start();
  EXPECT_EQ(profile->step_num(), 1);
  profile->stop();
  EXPECT_THAT(script_.take(), ElementsAre("prepare", "start", "mark 1", "stop", "ready"));
}

// Events after 100 steps of one op each, as torch's own test counts them.
struct Count {
  std::int64_t warmup, active, repeat;
  bool acc_events;
  std::size_t events;
};

TEST_F(ProfileTest, TheNumberOfEventsAfterAHundredStepsIsTorchs) {
  const std::vector<Count> counts = {{0, 1, 1, true, 1},    {0, 5, 0, true, 100}, {0, 5, 10, true, 50},   {1, 5, 0, true, 83},
                                     {10, 10, 4, true, 40}, {0, 5, 0, false, 0},  {10, 10, 4, false, 10}, {1, 5, 0, false, 3}};
  for (const auto& [warmup, active, repeat, acc_events, events] : counts) {
    SCOPED_TRACE(fmt::format("warmup {} active {} repeat {} acc_events {}", warmup, active, repeat, acc_events));
    auto profile = make({.schedule = schedule({.warmup = warmup, .active = active, .repeat = repeat}), .acc_events = acc_events});
    profile->start();
    for (int i = 0; i < 100; ++i) {
      script_.op();
      profile->step();
    }
    profile->stop();
    EXPECT_EQ(profile->recording()->events.size(), events);
  }
}

TEST_F(ProfileTest, TheUserIsCalledOnceForEachCycleAndForWhatIsLeftAtTheEnd) {
  const auto calls = [&](const ScheduleOptions& options, int steps) {
    auto profile = make({.schedule = schedule(options)});
    profile->start();
    for (int i = 0; i < steps; ++i) profile->step();
    profile->stop();
    const CallLog log = script_.take();
    return std::count(log.begin(), log.end(), "ready");
  };
  EXPECT_EQ(calls({.wait = 1, .warmup = 1, .active = 2}, 8), 2);
  EXPECT_EQ(calls({.wait = 1, .warmup = 1, .active = 2}, 10), 3) << "the third cycle records when it ends";
  EXPECT_EQ(calls({.wait = 1, .warmup = 1, .active = 2}, 9), 2) << "the third cycle only warms up";
  EXPECT_EQ(calls({.wait = 1, .warmup = 1, .active = 2, .repeat = 1}, 20), 1);
  EXPECT_EQ(calls({.active = 1}, 5), 6);
}

TEST_F(ProfileTest, AWarmupThatNothingFollowsDoesNotTakeThePlaceOfTheLastCycle) {
  auto profile = make_scheduled("SWN");
  profile->start();
  script_.op();
  profile->step();
  EXPECT_EQ(profile->recording()->events.size(), 1U) << "readable between cycles";
  profile->step();
  EXPECT_EQ(profile->recording()->events.size(), 1U);
  profile->stop();
  EXPECT_EQ(profile->recording()->events.size(), 1U);
}

TEST_F(ProfileTest, TheLastCycleStaysReadableWhileTheNextIsRecorded) {
  auto profile = make_scheduled("SRR");
  profile->start();
  script_.op();
  profile->step();
  script_.op();
  script_.op();
  EXPECT_EQ(profile->recording()->events.size(), 1U);
  profile->stop();
  EXPECT_EQ(profile->recording()->events.size(), 2U);
}

TEST_F(ProfileTest, TheWarningAboutClearedCyclesComesWithTheSecondCycleAndOnce) {
  const std::string text =
      "Warning: Profiler clears events at the end of each cycle. Only events from the current cycle will be reported. To keep events "
      "across "
      "cycles, set acc_events=True.";
  make_scheduled("SN")->start();
  EXPECT_THAT(heard_, IsEmpty()) << "one cycle loses nothing";
  for (int i = 0; i < 2; ++i) {
    auto profile = make_scheduled("SSS");
    profile->start();
    EXPECT_THAT(profile->warnings(), IsEmpty());
    profile->step();
    profile->step();
    EXPECT_THAT(profile->warnings(), ElementsAre(Warning{WarningCategory::kUser, text}));
  }
  EXPECT_THAT(heard_, ElementsAre(text)) << "said once a process, kept by each profile";
  auto accumulating = make({.schedule = scripted("SSS"), .acc_events = true});
  accumulating->start();
  accumulating->step();
  EXPECT_THAT(accumulating->warnings(), IsEmpty());
}

TEST_F(ProfileTest, DestructionStopsAsTheEndOfAWithBlockDoes) {
  make({.execution_trace_observer = std::make_shared<FakeObserver>(script_)})->start();
  EXPECT_THAT(take_trace_calls(), ElementsAre("prepare", "observer start", "start", "observer stop", "stop", "ready", "observer cleanup"));
}

TEST_F(ProfileTest, DestructionOfAProfileThatNeverRanDoesNothing) {
  make({.execution_trace_observer = std::make_shared<FakeObserver>(script_)});
  EXPECT_THAT(script_.take(), IsEmpty());
}

TEST_F(ProfileTest, LeavingTheScopeByAnExceptionStopsAndKeepsTheException) {
  const auto train = [&] {
    auto profile = make({});
    profile->start();
    throw std::out_of_range("the user's own");
  };
  EXPECT_EQ(error_of<std::out_of_range>(train), "the user's own");
  EXPECT_THAT(take_trace_calls(), ElementsAre("prepare", "start", "stop", "ready"));
}

TEST_F(ProfileTest, CloseIsTheEndOfAWithBlockAlsoAfterAStop) {
  auto profile = make({.execution_trace_observer = std::make_shared<FakeObserver>(script_)});
  profile->start();
  profile->stop();
  script_.take();
  profile->close();
  profile->close();
  EXPECT_THAT(script_.take(), ElementsAre("observer cleanup"));
}

TEST_F(ProfileTest, AbandoningForgetsEverythingWithoutCallbacks) {
  auto profile = make({.execution_trace_observer = std::make_shared<FakeObserver>(script_)});
  profile->start();
  script_.take();
  profile->abandon();
  profile.reset();
  EXPECT_THAT(script_.take(), ElementsAre("discard"));
}

}  // namespace
}  // namespace mindtorch::profiler
