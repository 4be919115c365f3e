// Calls that come from CUPTI's callbacks: they tell what its records of calls would tell, and lie exactly where they were made.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <latch>
#include <thread>

#include "mindtorch/analyze/analysis.h"
#include "mindtorch/sources/cupti/call_log.h"
#include "tests/sources/cupti_fixture.h"
#include "tests/support/rounds.h"

namespace mindtorch::sources {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;
using trace::EventIndex;
using trace::EventKind;
using trace::Recording;

constexpr std::uint32_t kGetDevice = 17, kStreamSynchronize = 131, kMemcpyCall = 41, kLaunchCall = 211, kDriverLaunchEx = 652;

std::string with_pairs(const std::map<std::string, std::string>& pairs) {
  std::string text;
  for (const auto& [key, value] : pairs)
    if (key != "graph id" && key != "graph node id") text += " " + key + "=" + value;  // ids are never given twice
  return text;
}

class CuptiCallsTest : public CuptiRecordsTest {
 protected:
  ~CuptiCallsTest() override { ::unsetenv("MINDTORCH_CUPTI_RECORDS"); }

  static std::string calls_of(const Recording& recording) { return recording.metadata.at("cupti_calls"); }

  // Everything that must not depend on how calls are recorded, a sentence each. Threads are numbered as they come.
  static std::vector<std::string> told_by(const Recording& recording) {
    std::vector<std::string> all;
    const analyze::Analysis analysis(recording);
    for (EventIndex event = 0; event < recording.events.size(); ++event) {
      const std::string name(recording.name(event));
      const std::uint64_t link = recording.events.link[event];
      switch (recording.events.kind[event]) {
        case EventKind::kRuntime:
        case EventKind::kDriver:
        case EventKind::kKernel:
        case EventKind::kMemcpy:
        case EventKind::kMemset:
        case EventKind::kSync: all.push_back(name + " link " + std::to_string(link) + with_pairs(attributes_of(recording, event))); break;
        case EventKind::kOp:
          for (const EventIndex work : analysis.launches().activities_of(event))
            all.push_back(name + " launches " + std::string(recording.name(work)));
          break;
        default: break;
      }
    }
    for (const trace::Track& track : recording.tracks) {
      if (track.kind != trace::Track::Kind::kThread) continue;
      std::string calls = "thread:";
      for (EventIndex event = track.first_event; event < track.first_event + track.event_count; ++event)
        if (trace::is_launch_kind(recording.events.kind[event])) calls += " " + std::string(recording.name(event));
      all.push_back(calls);
    }
    for (const auto& [reason, count] : losses_of(recording))
      all.push_back("lost " + std::to_string(static_cast<int>(reason)) + " " + std::to_string(count));
    std::ranges::sort(all);
    return all;
  }

  // A process of its own for each: a source that has used classic records goes on with them.
  Recording record_in_new_process(const std::function<void()>& work, const record::DeviceOptions& options) {
    reset_double();
    cupti::CuptiSource source;
    auto session = record::Session::prepare({.device = options, .sources = {&source}});
    session->start();
    work();
    Recording recording = session->stop();
    EXPECT_EQ(trace::check_invariants(recording), "");
    return recording;
  }
  void expect_both_ways_to_tell_the_same(const std::function<void()>& work, const record::DeviceOptions& options = {}) {
    ::setenv("MINDTORCH_CUPTI_RECORDS", "calls", 1);
    const Recording of_records = record_in_new_process(work, options);
    ::unsetenv("MINDTORCH_CUPTI_RECORDS");
    const Recording of_callbacks = record_in_new_process(work, options);
    EXPECT_EQ(calls_of(of_records), "\"records\"");
    EXPECT_EQ(calls_of(of_callbacks), "\"callbacks\"");
    EXPECT_EQ(told_by(of_callbacks), told_by(of_records));
    EXPECT_FALSE(told_by(of_records).empty());
  }

  static void issue(std::uint32_t kind, std::uint64_t bytes = 64) {
    const CuptiDoubleWork work{.activity_kind = kind, .bytes = bytes};
    cupti_double_issue(&work);
  }
  static void* capture(const std::vector<std::string>& ops) {
    cupti_double_begin_capture(7);
    for (const std::string& name : ops) run_op(name);
    return cupti_double_instantiate_graph(cupti_double_end_capture(7));
  }
};

// A call in which this thread stays until the test lets it go on.
class LongCall {
 public:
  explicit LongCall(
      std::function<void()> inside = [] {}, std::uint32_t callback_id = kLaunchCall)
      : inside_(std::move(inside)), thread_([this, callback_id] {
          cupti_double_call_around(
              cupti::kRuntimeApi, callback_id, [](void* self) { static_cast<LongCall*>(self)->stay(); }, this);
        }) {
    entered_.wait();
  }
  ~LongCall() { leave(); }
  void leave() {
    if (!thread_.joinable()) return;
    left_.count_down();
    thread_.join();
  }

 private:
  void stay() {
    inside_();
    entered_.count_down();
    left_.wait();
  }
  std::function<void()> inside_;
  std::latch entered_{1}, left_{1};
  std::thread thread_;
};

TEST_P(CuptiCallsTest, BothWaysTellTheSameOfWorkOfAllKinds) {
  expect_both_ways_to_tell_the_same([] {
    run_op("mm");
    run_op("relu", 13);
    {
      record::OpScope op(record::intern("copy"));
      issue(cupti::kMemcpy);
      issue(cupti::kMemset);
      issue(cupti::kMemcpyPeer);
    }
    cupti_double_call(cupti::kRuntimeApi, kGetDevice);
    cupti_double_call(cupti::kRuntimeApi, kStreamSynchronize);
    cupti_double_call(cupti::kDriverApi, kDriverLaunchEx);
    cupti_double_synchronize();
    launch("outside");
  });
}

TEST_P(CuptiCallsTest, BothWaysTellTheSameOfGraphs) {
  expect_both_ways_to_tell_the_same([] {
    void* executable = capture({"mm", "relu"});
    for (int i = 0; i < 3; ++i) {
      record::OpScope op(record::intern("replay"));
      cupti_double_launch_graph(executable, 7);
    }
    run_op("eager");
  });
}

TEST_P(CuptiCallsTest, BothWaysTellTheSameOfWaitsAndEvents) {
  expect_both_ways_to_tell_the_same(
      [] {
        run_op("mm");
        cupti_double_record_event(7, 3);
        cupti_double_synchronize();
      },
      {.synchronizations = true, .extras = {.events = true}});
  cupti_double_set_version(26);
}

TEST_P(CuptiCallsTest, BothWaysTellTheSameOfCallsThatFail) {
  expect_both_ways_to_tell_the_same([] {
    cupti_double_fail_next_call(701);
    run_op("refused");
    run_op("mm");
    cupti_double_fail_next_call(2);
    issue(cupti::kMemcpy);
  });
}

TEST_P(CuptiCallsTest, BothWaysTellTheSameOfThreadsThatComeAndGo) {
  expect_both_ways_to_tell_the_same([] {
    for (int i = 0; i < 20; ++i) std::thread([i] { run_op("op" + std::to_string(i)); }).join();
    run_op("last");
  });
}

TEST_P(CuptiCallsTest, BothWaysTellTheSameOfCallsInsideOfCalls) {
  expect_both_ways_to_tell_the_same([] {
    record::OpScope op(record::intern("outer"));
    cupti_double_call_around(
        cupti::kRuntimeApi, kMemcpyCall, [](void*) { launch("inner"); }, nullptr);
    cupti_double_call_around(
        cupti::kRuntimeApi, kStreamSynchronize,
        [](void*) {
          cupti_double_call_around(
              cupti::kDriverApi, kDriverLaunchEx, [](void*) { launch("innermost"); }, nullptr);
        },
        nullptr);
  });
}

TEST_P(CuptiCallsTest, BothWaysTellTheSameOfWorkThatIsLost) {
  const CuptiDoubleFaults faults{.lose_every = 4};
  expect_both_ways_to_tell_the_same([&] {
    cupti_double_set_faults(&faults);
    for (int i = 0; i < 10; ++i) run_op("op");
  });
}

TEST_P(CuptiCallsTest, ACallLiesInTheScopeThatMadeItHoweverShortTheScopeIs) {
  const Recording recording = record([] {
    for (int i = 0; i < 200; ++i) {
      record::OpScope op(record::intern("op"));
      launch("kernel");
    }
  });
  ASSERT_EQ(count_of(recording, EventKind::kRuntime), 200u);
  const analyze::Analysis analysis(recording);
  for (const EventIndex op : events_of(recording, EventKind::kOp)) EXPECT_EQ(analysis.launches().activities_of(op).size(), 1u);
}

TEST_P(CuptiCallsTest, TheRuntimesCallCountsAndNotTheDriversInsideOfIt) {
  const Recording recording = record([] {
    for (int i = 0; i < 5; ++i) launch("kernel");
  });
  EXPECT_THAT(names_of(recording, EventKind::kRuntime), ElementsAre(Pair("cudaLaunchKernel", 5)));
  EXPECT_EQ(count_of(recording, EventKind::kDriver), 0u);
}

TEST_P(CuptiCallsTest, ManyCallsOfAThreadAllComeInTheirOrder) {
  constexpr int kCalls = 3 * cupti::CallLog::kCallsInChunk + 7;
  const Recording recording = record([] {
    for (int i = 0; i < kCalls; ++i) launch("kernel");
  });
  const auto calls = events_of(recording, EventKind::kRuntime);
  ASSERT_EQ(calls.size(), std::size_t{kCalls});
  for (std::size_t i = 1; i < calls.size(); ++i) EXPECT_EQ(recording.events.link[calls[i]], recording.events.link[calls[i - 1]] + 1);
  EXPECT_THAT(recording.losses, IsEmpty()) << loss_text(recording);
}

TEST_P(CuptiCallsTest, ACallThatIsUnderWayAtTheEndIsLeftOutTogetherWithItsKernel) {
  std::unique_ptr<LongCall> call;
  const Recording recording = record([&] {
    run_op("before");
    // Its kernel has run already.
    call = std::make_unique<LongCall>([] { launch("inside"); });
    run_op("after");
  });
  call->leave();
  EXPECT_THAT(names_of(recording, EventKind::kRuntime), ElementsAre(Pair("cudaLaunchKernel", 3)));
  EXPECT_THAT(recording.losses, IsEmpty()) << loss_text(recording);
  const Recording next = record([] { run_op("next"); });
  EXPECT_THAT(names_of(next, EventKind::kKernel), ElementsAre(Pair("next_kernel", 1)));
  EXPECT_THAT(next.losses, IsEmpty()) << loss_text(next);
}

TEST_P(CuptiCallsTest, ACallThatBeganBeforeTheRecordingIsNotInIt) {
  LongCall call;
  const Recording recording = record([&] {
    run_op("op");
    call.leave();
    run_op("op");
  });
  EXPECT_THAT(names_of(recording, EventKind::kRuntime), ElementsAre(Pair("cudaLaunchKernel", 2)));
  EXPECT_THAT(recording.losses, IsEmpty()) << loss_text(recording);
}

TEST_P(CuptiCallsTest, AThreadThatStaysInACallOverSeveralRecordingsIsHeardAgainAfterwards) {
  auto call = std::make_unique<LongCall>();
  for (int round = 0; round < 3; ++round) EXPECT_EQ(count_of(record([] { run_op("op"); }), EventKind::kKernel), 1u);
  call.reset();
  EXPECT_THAT(names_of(record([] { std::thread([] { run_op("op"); }).join(); }), EventKind::kRuntime),
              ElementsAre(Pair("cudaLaunchKernel", 1)));
}

TEST_P(CuptiCallsTest, CollectionThatIsSwitchedOffInACallLeavesTheCallOut) {
  const Recording recording = record([&] {
    run_op("first");
    LongCall call([] { launch("inside"); });
    source_.toggle(false);
    launch("off");
    call.leave();
    source_.toggle(true);
    run_op("second");
  });
  EXPECT_THAT(names_of(recording, EventKind::kKernel), ElementsAre(Pair("first_kernel", 1), Pair("inside", 1), Pair("second_kernel", 1)));
  EXPECT_EQ(count_of(recording, EventKind::kRuntime), 3u);
  EXPECT_THAT(recording.losses, IsEmpty()) << loss_text(recording);
}

// Callbacks run on other threads while the source subscribes, unsubscribes and takes calls.
TEST_P(CuptiCallsTest, ThreadsMayCallAtAnyMomentOfManyRecordings) {
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 3; ++t) {
    threads.emplace_back([&ends, t] {
      while (!ends) {
        std::thread([t] { launch("short", 7 + t); }).join();
        for (int i = 0; i < 50; ++i) launch("kernel", 7 + t);
      }
    });
  }
  for (int round = 0; round < tests::rounds(60); ++round) {
    const Recording recording = record([] { run_op("op"); });
    EXPECT_EQ(names_of(recording, EventKind::kKernel)["op_kernel"], 1);
    EXPECT_EQ(losses_of(recording)[trace::LossReason::kNoLaunch], 0u) << loss_text(recording);
    EXPECT_EQ(losses_of(recording)[trace::LossReason::kNoDeviceRecord], 0u) << loss_text(recording);
  }
  ends = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_P(CuptiCallsTest, AChildProcessRecordsNothingAndHarmsNothing) {
  const Recording recording = record([] {
    run_op("op");
    const pid_t child = ::fork();
    if (child == 0) {
      const cupti::CallbackData data{.site = cupti::kApiEnter, .correlation_id = 99};
      cupti::call_log().called_back(cupti::kRuntimeApi, kLaunchCall, data);
      ::_exit(cupti::call_log().is_on() ? 1 : 0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    run_op("op");
  });
  EXPECT_EQ(count_of(recording, EventKind::kKernel), 2u);
  EXPECT_EQ(count_of(recording, EventKind::kRuntime), 2u);
}

TEST_P(CuptiCallsTest, CallsAreRecordsWhereTheCallbacksAreRefused) {
  cupti_double_fail("cuptiEnableDomain", cupti::kNotSupported, 0, 0);
  const Recording recording = record([] { run_op("op"); });
  EXPECT_EQ(calls_of(recording), "\"records\"");
  EXPECT_THAT(names_of(recording, EventKind::kRuntime), ElementsAre(Pair("cudaLaunchKernel", 1)));
  EXPECT_THAT(recording.losses, IsEmpty()) << loss_text(recording);
  EXPECT_THAT(source_.diagnose(), Contains(Pair("calls", StartsWith("records (cuptiEnableDomain"))));
}

INSTANTIATE_TEST_SUITE_P(Cupti, CuptiCallsTest, testing::Values(kClassicRecords, kUserDefinedRecords), name_of_records);

class CuptiClassicCallsTest : public CuptiTest {};

TEST_F(CuptiClassicCallsTest, CallsAreRecordsBesideAToolThatHasSubscribed) {
  cupti_double_set_other_subscriber("Nsight Systems");
  const Recording recording = record([] { run_op("op"); });
  EXPECT_EQ(recording.metadata.at("cupti_calls"), "\"records\"");
  EXPECT_THAT(problems_, Contains(HasSubstr("calls take longer")));
  EXPECT_THAT(names_of(recording, EventKind::kRuntime), ElementsAre(Pair("cudaLaunchKernel", 1)));
  EXPECT_THAT(recording.losses, IsEmpty()) << loss_text(recording);
  EXPECT_THAT(source_.diagnose(), Contains(Pair("calls", "records (another tool gets the callbacks)")));
}

// A log of its own, as one thread fills it and the other reads it.
class CallLogTest : public testing::Test {
 protected:
  ~CallLogTest() override {
    log().end();
    take_all();
  }
  static cupti::CallLog& log() { return cupti::call_log(); }
  static void call(cupti::ApiSite site, std::uint32_t correlation, std::uint32_t function = kLaunchCall,
                   std::uint32_t domain = cupti::kRuntimeApi) {
    const cupti::Result result = 5;
    const cupti::CallbackData data{.site = site, .function_return_value = &result, .correlation_id = correlation};
    log().called_back(domain, function, data);
  }
  static std::vector<cupti::TakenCall> take_ended() {
    std::vector<cupti::TakenCall> all;
    log().take_ended([&](const cupti::TakenCall& taken) { all.push_back(taken); });
    return all;
  }
  static std::vector<cupti::TakenCall> take_all() {
    std::vector<cupti::TakenCall> all;
    log().take_all([&](const cupti::TakenCall& taken) { all.push_back(taken); });
    return all;
  }
};

TEST_F(CallLogTest, CallsAreHandedOverOnceWhenTheyHaveEnded) {
  log().begin(record::system_clock());
  call(cupti::kApiEnter, 1);
  EXPECT_THAT(take_ended(), IsEmpty());
  call(cupti::kApiExit, 1);
  const auto taken = take_ended();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].call.result, 5);
  EXPECT_TRUE(taken[0].has_both_ends);
  EXPECT_LE(taken[0].call.start, taken[0].call.end);
  EXPECT_THAT(take_ended(), IsEmpty());
}

TEST_F(CallLogTest, NothingIsWrittenDownBeforeTheBeginningAndAfterTheEnd) {
  call(cupti::kApiEnter, 1);
  call(cupti::kApiExit, 1);
  log().begin(record::system_clock());
  call(cupti::kApiEnter, 2);
  log().end();
  call(cupti::kApiExit, 2);
  call(cupti::kApiEnter, 3);
  const auto taken = take_all();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].call.correlation, 2u);
  EXPECT_FALSE(taken[0].has_both_ends);
}

TEST_F(CallLogTest, OfACallThatIsUnderWayAtTheBeginningOnlyTheEndIsKnown) {
  log().begin(record::system_clock());
  call(cupti::kApiExit, 1, kDriverLaunchEx, cupti::kDriverApi);
  call(cupti::kApiExit, 1);
  const auto taken = take_ended();
  ASSERT_EQ(taken.size(), 2u);
  for (const cupti::TakenCall& each : taken) EXPECT_FALSE(each.has_both_ends);
}

TEST_F(CallLogTest, AnExitThatNeverComesHoldsNothingBack) {
  log().begin(record::system_clock());
  call(cupti::kApiEnter, 1);
  call(cupti::kApiEnter, 2);
  call(cupti::kApiExit, 1);
  auto taken = take_ended();
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_TRUE(taken[0].has_both_ends);
  EXPECT_FALSE(taken[1].has_both_ends);
  call(cupti::kApiEnter, 3);
  log().begin(record::system_clock());  // as after collection was switched off and on
  call(cupti::kApiEnter, 4);
  call(cupti::kApiExit, 4);
  taken = take_ended();
  ASSERT_EQ(taken.size(), 2u);
  EXPECT_FALSE(taken[0].has_both_ends);
  EXPECT_EQ(taken[1].call.correlation, 4u);
}

TEST_F(CallLogTest, CallsThatAreNestedTooDeeplyAreCounted) {
  log().begin(record::system_clock());
  for (std::uint32_t i = 1; i <= 20; ++i) call(cupti::kApiEnter, i);
  for (std::uint32_t i = 20; i >= 1; --i) call(cupti::kApiExit, i);
  const auto taken = take_ended();
  EXPECT_EQ(std::ranges::count_if(taken, [](const cupti::TakenCall& each) { return each.has_both_ends; }), 16);
  EXPECT_EQ(log().take_refused(), 4u);
  EXPECT_EQ(log().take_refused(), 0u);
}

TEST_F(CallLogTest, AReaderBesideManyThreadsGetsEveryCallOnce) {
  constexpr std::uint32_t kThreads = 4, kCalls = 5000;
  log().begin(record::system_clock());
  std::atomic<std::uint32_t> running{kThreads};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&running, t] {
      for (std::uint32_t i = 0; i < kCalls; ++i) {
        call(cupti::kApiEnter, t * kCalls + i);
        call(cupti::kApiExit, t * kCalls + i);
      }
      --running;
    });
  }
  std::vector<int> seen(kThreads * kCalls);
  const auto count = [&] {
    for (const cupti::TakenCall& taken : take_ended()) ++seen[taken.call.correlation];
  };
  while (running > 0) count();
  for (std::thread& thread : threads) thread.join();
  count();
  EXPECT_THAT(seen, testing::Each(1));
}

}  // namespace
}  // namespace mindtorch::sources
