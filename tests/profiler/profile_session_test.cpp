// Profile over the real recorder: threads, steps, cycles, toggles, nested sessions.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/profiler/profile.h"
#include "mindtorch/profiler/record_function.h"
#include "mindtorch/trace/invariants.h"
#include "tests/profiler/names_of.h"
#include "tests/support/emulator.h"

namespace mindtorch::profiler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Activities kCpuOnly = {Activity::kCpu};

void op(std::string_view name) { record::OpScope scope(record::intern(name)); }

// "name@step" of every event, in order.
std::vector<std::string> steps_of(const trace::Recording& recording) {
  std::vector<std::string> steps;
  for (trace::EventIndex i = 0; i < recording.events.size(); ++i)
    steps.push_back(fmt::format("{}@{}", recording.name(i), recording.step_at(recording.events.start_ns[i])));
  return steps;
}

TEST(ProfileSession, OpsBeforeTheFirstStepBelongToStepZeroAndThoseAfterItToStepOne) {
  Profile profile({.activities = kCpuOnly});
  profile.start();
  op("a");
  profile.step();
  op("b");
  profile.stop();
  EXPECT_THAT(steps_of(*profile.recording()), ElementsAre("a@0", "b@1"));
}

TEST(ProfileSession, AScheduleRecordsItsActiveStepsUnderTheirOwnNumbers) {
  Profile profile({.activities = kCpuOnly, .schedule = schedule({.wait = 1, .warmup = 1, .active = 2, .repeat = 1})});
  profile.start();
  for (int step = 0; step < 6; ++step) {
    op(fmt::format("op{}", step));
    profile.step();
  }
  profile.stop();
  EXPECT_THAT(steps_of(*profile.recording()), ElementsAre("ProfilerStep#2@2", "op2@2", "ProfilerStep#3@3", "op3@3"));
  EXPECT_TRUE(profile.losses().empty());
  EXPECT_EQ(trace::check_invariants(*profile.recording()), "");
}

TEST(ProfileSession, EachCycleIsARecordingOfItsOwn) {
  std::vector<std::vector<std::string>> cycles;
  Profile profile({.activities = kCpuOnly, .schedule = schedule({.active = 1, .repeat = 3}), .on_trace_ready = [&](Profile& p) {
                     cycles.push_back(names_of(*p.recording()));
                   }});
  profile.start();
  for (int step = 0; step < 3; ++step) {
    op(fmt::format("op{}", step));
    profile.step();
  }
  profile.stop();
  EXPECT_THAT(cycles, ElementsAre(ElementsAre("ProfilerStep#0", "op0"), ElementsAre("ProfilerStep#1", "op1"),
                                  ElementsAre("ProfilerStep#2", "op2")));
}

TEST(ProfileSession, AccumulatedCyclesKeepTheirStepsAndTheirOrder) {
  Profile profile({.activities = kCpuOnly, .schedule = schedule({.wait = 1, .active = 1, .repeat = 2}), .acc_events = true});
  profile.start();
  for (int step = 0; step < 4; ++step) {
    op(fmt::format("op{}", step));
    profile.step();
  }
  profile.stop();
  EXPECT_THAT(steps_of(*profile.recording()), ElementsAre("ProfilerStep#1@1", "op1@1", "ProfilerStep#3@3", "op3@3"));
  EXPECT_EQ(trace::check_invariants(*profile.recording()), "");
}

TEST(ProfileSession, ASecondProfileIsEmptyAndTheFirstGoesOn) {
  Profile outer({.activities = kCpuOnly});
  outer.start();
  op("before");
  {
    Profile inner({.activities = kCpuOnly});
    inner.start();
    op("between");
    inner.stop();
    ASSERT_THAT(inner.warnings(), SizeIs(1));
    EXPECT_THAT(inner.warnings()[0].text, HasSubstr("Another profiling session is active and goes on: this profile records nothing"));
    EXPECT_THAT(names_of(*inner.recording()), IsEmpty());
  }
  op("after");
  outer.stop();
  EXPECT_THAT(names_of(*outer.recording()), ElementsAre("before", "between", "after"));
  Profile next({.activities = kCpuOnly});
  next.start();
}

TEST(ProfileSession, AProfileThatWarmsUpInAnothersRecordingRecordsAfterIt) {
  Profile waiting({.activities = kCpuOnly, .schedule = schedule({.wait = 1, .warmup = 1, .active = 1})});
  waiting.start();
  Profile other({.activities = kCpuOnly});
  other.start();
  waiting.step();
  op("others");
  other.stop();
  EXPECT_THAT(names_of(*other.recording()), ElementsAre("others"));
  waiting.step();
  op("mine");
  waiting.stop();
  EXPECT_THAT(names_of(*waiting.recording()), ElementsAre("ProfilerStep#2", "mine"));
}

TEST(ProfileSession, CollectionCanBeSwitchedOffAndOnWhileStepsGoOn) {
  Profile profile({.activities = kCpuOnly, .schedule = schedule({.warmup = 1, .active = 8, .repeat = 1})});
  profile.start();
  profile.step();
  op("add");
  profile.toggle_collection_dynamic(false, {Activity::kCpu});
  op("mul");
  profile.step();
  op("mul");
  profile.toggle_collection_dynamic(true, {Activity::kCpu});
  op("add");
  profile.step();
  profile.stop();
  EXPECT_THAT(steps_of(*profile.recording()), ElementsAre("ProfilerStep#1@1", "add@1", "add@2", "ProfilerStep#3@3"));
}

TEST(ProfileSession, StepMayBeCalledOnAnotherThread) {
  Profile profile({.activities = kCpuOnly, .schedule = schedule({.warmup = 1, .active = 4, .repeat = 1})});
  profile.start();
  profile.step();
  std::thread([&] { profile.step(); }).join();
  profile.stop();
  const std::vector<std::string> names = names_of(*profile.recording());
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()), (std::set<std::string>{"ProfilerStep#1", "ProfilerStep#2"}));
}

TEST(ProfileSession, AllThreadsAreRecordedUnlessLimitedToTheStartingOne) {
  for (const bool all : {true, false}) {
    Profile profile({.activities = kCpuOnly, .experimental_config = {.profile_all_threads = all}});
    profile.start();
    op("here");
    std::thread([] { op("there"); }).join();
    profile.stop();
    const std::vector<std::string> names = names_of(*profile.recording());
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()),
              (all ? std::set<std::string>{"here", "there"} : std::set<std::string>{"here"}));
  }
}

TEST(ProfileSession, KeepingTheLastStepsIsAMatterOfConfiguration) {
  if (tests::is_emulated()) GTEST_SKIP() << "the counter of qemu advances once in a microsecond, so that several steps begin at one time";
  Profile profile(
      {.activities = kCpuOnly, .experimental_config = {.budget = {.policy = record::Budget::Policy::kKeepLast, .keep_steps = 2}}});
  profile.start();
  for (int step = 0; step < 5; ++step) {
    op(fmt::format("op{}", step));
    if (step < 4) profile.step();
  }
  profile.stop();
  EXPECT_THAT(steps_of(*profile.recording()), ElementsAre("op2@2", "op3@3", "op4@4")) << "the running step and two whole ones";
}

TEST(ProfileSession, ThreadsMayComeAndGoWhileCyclesTurn) {
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!done.load(std::memory_order_relaxed)) std::thread([] { RecordFunction scope("worker", "short"); }).join();
    });
  }
  std::size_t calls = 0;
  {
    Profile profile(
        {.activities = kCpuOnly, .schedule = schedule({.wait = 1, .warmup = 1, .active = 2}), .on_trace_ready = [&](Profile& p) {
           ++calls;
           EXPECT_EQ(trace::check_invariants(*p.recording()), "");
         }});
    profile.start();
    for (int step = 0; step < 200; ++step) {
      op("main");
      if (step % 7 == 0) profile.toggle_collection_dynamic(step % 2 == 0, {Activity::kCpu});
      profile.step();
    }
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(calls, 50U);
}

TEST(ProfileSession, AForkedChildIsToldThatTheTraceIsItsParentsAndTheParentIsUnharmed) {
  Profile profile({.activities = kCpuOnly});
  profile.start();
  op("before");
  const pid_t child = ::fork();
  if (child == 0) {
    op("child");
    try {
      profile.stop();
    } catch (const Error& error) {
      ::_exit(std::string_view(error.what()).find("parent process") != std::string_view::npos && !profile.running() ? 0 : 1);
    }
    ::_exit(2);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  op("after");
  profile.stop();
  EXPECT_THAT(names_of(*profile.recording()), ElementsAre("before", "after"));
}

TEST(ProfileSession, AnInjectedClockIsTheOneThatCounts) {
  record::FakeClock clock;
  Profile profile({.activities = kCpuOnly, .clock = &clock});
  profile.start();
  {
    RecordFunction scope("second");
    clock.advance(1'000'000'000);
  }
  profile.stop();
  EXPECT_EQ(profile.recording()->events.duration_ns[0], 1'000'000'000);
}

}  // namespace
}  // namespace mindtorch::profiler
