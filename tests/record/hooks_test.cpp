// Hosts, stack providers and the version of the hooks.
// Tests mindtorch/record/state too.
#include "mindtorch/record/hooks.h"

#include <gmock/gmock.h>

#include <functional>
#include <thread>

#include "mindtorch/ingest/recording_file.h"
#include "mindtorch/record/host.h"
#include "mindtorch/record/log_storage.h"
#include "mindtorch/record/stack_provider.h"
#include "tests/record/recorded.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

using HooksTest = RecordedTest;

// Captures a counter; resolves it to frames that name it.
class CountingStacks : public StackProvider {
 public:
  std::size_t capture(std::uint64_t* words, std::size_t capacity) noexcept override {
    if (capacity < 2) return 0;
    words[0] = next_ % 3;
    words[1] = 7;
    ++next_;
    return 2;
  }
  std::vector<SourcePlace> resolve(std::span<const std::uint64_t> words) override {
    ++resolved_;
    return {{"inner.py", "f" + std::to_string(words[0]), static_cast<int>(words[0])}, {"outer.py", "main", static_cast<int>(words[1])}};
  }
  void session_begins() override { calls_.push_back("begins"); }
  void session_resolved() override { calls_.push_back("resolved"); }

  int next_ = 0;
  int resolved_ = 0;
  std::vector<std::string> calls_;
};

TEST_F(HooksTest, StacksAreCapturedForOpsAndScopesAndResolvedOnceEach) {
  CountingStacks stacks;
  set_stack_provider(&stacks);
  auto session = started({.stacks = true});
  for (int i = 0; i < 6; ++i) scope("scope");
  { OpScope op(intern("op")); }
  { NamedScope step("ProfilerStep#0", trace::EventKind::kStep); }
  const trace::Recording recording = stopped(*session);
  set_stack_provider(nullptr);
  EXPECT_EQ(stacks.resolved_, 3) << "three distinct stacks";
  EXPECT_EQ(recording.stacks.size(), 3u);
  for (trace::EventIndex i = 0; i < 7; ++i) {
    const auto stack = recording.stacks.of_event.find(i);
    ASSERT_EQ(stack.size(), 1u);
    const auto frames = recording.stacks.frames_of(stack[0]);
    ASSERT_EQ(frames.size(), 2u);
    const trace::Frame& inner = recording.stacks.frames[frames[0]];
    EXPECT_EQ(recording.names[inner.function], "f" + std::to_string(i % 3));
    EXPECT_EQ(recording.names[recording.stacks.frames[frames[1]].file], "outer.py");
  }
  EXPECT_TRUE(recording.stacks.of_event.find(7).empty()) << "a step mark has no stack of its own";
  EXPECT_THAT(stacks.calls_, ElementsAre("begins", "resolved"));
}

TEST_F(HooksTest, AStepHasItsNumberAsAFieldAndIsNamedAfterIt) {
  const NameId named = intern("step #");
  const std::size_t names_before = name_count();
  auto session = started();
  for (std::int64_t step = 0; step < 3; ++step) NamedScope::step(step).close();
  { NamedScope plain(named, trace::EventKind::kStep); }
  const trace::Recording recording = stopped(*session);
  EXPECT_THAT(event_names(recording), ElementsAre("ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2", "step #"))
      << "a name is only a name, whatever it ends in";
  for (trace::EventIndex i = 0; i < 4; ++i) {
    EXPECT_EQ(trace::step_of(recording.events.link[i]), i < 3 ? std::int64_t{i} : -1);
    EXPECT_EQ(recording.events.flags[i], 0u);
  }
  EXPECT_EQ(name_count(), names_before) << "steps must not fill the table of names";
}

TEST_F(HooksTest, ASlotIsItsOwnersForAsLongAsTheSessionLastsWhateverItWants) {
  auto session = started();
  const std::uint64_t state = current_state();
  Slot* slot = open_slot(state, intern("op"), EventKind::kOp, 0, Device{}, 0);
  ASSERT_NE(slot, nullptr);
  EXPECT_TRUE(is_open(*slot));
  state_word.store(state | kShapes);  // what is wanted changes in the midst of a session
  { OpScope joins_with_the_new_wants(intern("other")); }
  EXPECT_TRUE(is_current(state));
  clock_.advance(7);
  close_slot(slot, state);
  EXPECT_FALSE(is_open(*slot));
  EXPECT_EQ(stopped(*session).events.duration_ns[0], 7);
  auto next = started();
  { OpScope joins_the_next_session(intern("op")); }
  EXPECT_FALSE(is_current(state)) << "and a slot of that session is not to be written any more";
  next->stop();
}

// Has a call stack of its own, which the test changes.
class OneFrame : public StackProvider {
 public:
  Innermost innermost() noexcept override { return innermost_; }
  std::size_t capture(std::uint64_t* words, std::size_t) noexcept override {
    words[0] = captured_++;
    return 1;
  }
  std::vector<SourcePlace> resolve(std::span<const std::uint64_t> words) override { return {{"file", "f", static_cast<int>(words[0])}}; }

  Innermost innermost_{this, nullptr};
  std::uint64_t captured_ = 0;
};

class SharedStacksTest : public HooksTest {
 protected:
  void SetUp() override { set_stack_provider(&frames_); }
  void TearDown() override { set_stack_provider(nullptr); }

  // The stack of each event, by the number of its capture.
  static std::vector<int> stacks_of(const trace::Recording& recording) {
    std::vector<int> numbers;
    for (trace::EventIndex i = 0; i < recording.events.size(); ++i) {
      const auto stack = recording.stacks.of_event.find(i);
      numbers.push_back(stack.empty() ? -1 : recording.stacks.frames[recording.stacks.frames_of(stack[0])[0]].line);
    }
    return numbers;
  }

  OneFrame frames_;
};

TEST_F(SharedStacksTest, OpsCalledByAnOpFromItsFrameHaveItsStack) {
  auto session = started({.stacks = true});
  for (int i = 0; i < 2; ++i) {
    OpScope outer(intern("outer"));
    { OpScope inner(intern("inner")); }
    OpScope second(intern("second"));
    OpScope innermost(intern("innermost"));
  }
  EXPECT_THAT(stacks_of(stopped(*session)), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
}

TEST_F(SharedStacksTest, AnOtherFrameOrPlaceIsLookedAt) {
  auto session = started({.stacks = true});
  OpScope outer(intern("outer"));
  { OpScope inner(intern("inner")); }
  frames_.innermost_.place = this;
  { OpScope elsewhere(intern("elsewhere")); }
  frames_.innermost_.frame = &session;
  { OpScope called(intern("called")); }
  frames_.innermost_.frame = nullptr;
  { OpScope unknown(intern("unknown")); }
  { OpScope unknown(intern("unknown")); }
  EXPECT_THAT(stacks_of(stopped(*session)), ElementsAre(0, 0, 1, 2, 3, 4));
}

TEST_F(SharedStacksTest, AScopeThatMayEndAnytimeSharesItsStackWithNobody) {
  auto session = started({.stacks = true});
  NamedScope scope("scope");
  { NamedScope inner("inner"); }
  OpScope op(intern("op"));
  { NamedScope inside("inside"); }
  EXPECT_THAT(stacks_of(stopped(*session)), ElementsAre(0, 1, 2, 2));
}

TEST_F(SharedStacksTest, EverySessionAndEverySegmentLooksForItself) {
  for (int round = 0; round < 2; ++round) {
    frames_.captured_ = 0;
    auto session = started({.stacks = true});
    OpScope outer(intern("outer"));
    for (std::uint32_t i = 0; i < 3 * kSlotsPerSegment; ++i) OpScope inner(intern("inner"));
    const std::vector<int> stacks = stacks_of(stopped(*session));
    EXPECT_THAT(stacks, testing::Each(testing::Ge(0)));
    EXPECT_EQ(stacks[0], 0);
    EXPECT_EQ(stacks[1], 0);
    EXPECT_GT(stacks.back(), 0);
  }
}

TEST_F(HooksTest, WithoutTheFlagNoStackIsCaptured) {
  CountingStacks stacks;
  set_stack_provider(&stacks);
  auto session = started();
  scope("scope");
  EXPECT_THAT([&] { set_stack_provider(nullptr); }, ThrowsMessage<Error>(HasSubstr("a session is recording")));
  stopped(*session);
  set_stack_provider(nullptr);
  EXPECT_EQ(stacks.next_, 0);
}

class FakeHost : public Host {
 public:
  std::string_view name() const override { return "fake"; }
  Status session_starts(std::uint32_t wanted) override {
    wants_ = wanted;
    ++starts_;
    return problem_.empty() ? Status::ok() : Status::unavailable(problem_);
  }
  void session_stops() override { ++stops_; }
  std::vector<trace::MemoryBaseline> memory_totals() override { return {{{DeviceType::kCpu, 0}, 1000, 2000}}; }

  std::uint32_t wants_ = 0;
  int starts_ = 0, stops_ = 0;
  std::string problem_;
};

TEST_F(HooksTest, HostsAreToldWhatIsWantedAndAskedForTheirTotals) {
  FakeHost host;
  register_host(&host);
  auto session = started({.shapes = true, .memory = true});
  EXPECT_EQ(host.wants_ & (kEvents | kShapes | kMemory | kStacks), kEvents | kShapes | kMemory);
  const trace::Recording recording = stopped(*session);
  session.reset();
  unregister_host(&host);
  started()->stop();
  EXPECT_EQ(host.starts_, 1);
  EXPECT_EQ(host.stops_, 1);
  ASSERT_EQ(recording.memory_baselines.size(), 1u);
  EXPECT_EQ(recording.memory_baselines[0].reserved, 2000);
}

TEST_F(HooksTest, MomentsOfAnAllocatorIncreaseAlsoWhereTheClockStandsStill) {
  MemoryOrder order;
  EXPECT_EQ(order.next().state, 0u) << "nothing records";
  auto session = started({.memory = true});
  clock_.advance(100);
  const MemoryMoment first = order.next(), second = order.next();
  EXPECT_EQ(first.ticks, clock_.now());
  EXPECT_EQ(second.ticks, first.ticks + 1);
  clock_.advance(100);
  EXPECT_EQ(order.next().ticks, clock_.now());
  stopped(*session);
}

TEST_F(HooksTest, TheMomentsOfASessionDoNotDependOnThoseOfAnEarlierOne) {
  MemoryOrder order;
  clock_.advance(1'000'000);
  auto session = started({.memory = true});
  order.next();
  stopped(*session);
  session.reset();
  FakeClock earlier;
  session = Session::prepare({.memory = true, .clock = &earlier});
  session->start();
  EXPECT_EQ(order.next().ticks, earlier.now());
  stopped(*session);
}

TEST_F(HooksTest, AReportWhoseSessionIsOverIsNotInTheNextOne) {
  MemoryOrder order;
  auto session = started({.memory = true});
  const MemoryMoment late = order.next();
  stopped(*session);
  session.reset();
  session = started({.memory = true});
  scope("of the next session");
  record_memory(late, {}, this, 64, 64, 64);
  EXPECT_EQ(stopped(*session).memory.size(), 0u);
}

// A clock that counts four times in a nanosecond.
class FineClock : public FakeClock {
 public:
  double ns_per_tick() override { return 0.25; }
  ClockSample sample() override {
    ClockSample sample = FakeClock::sample();
    sample.monotonic_ns /= 4;
    return sample;
  }
};

// A thread that has let go of the lock of its allocator is slow to report, and another thread overtakes it with the same address.
class OvertakenReportTest : public RecordedTest {
 protected:
  // The bytes of the reports, in the order of the recording.
  trace::Column<std::int64_t> overtake(SessionOptions options, const std::function<trace::Recording(Session&)>& read) {
    options.memory = true;
    options.clock = &fine_clock_;
    auto session = Session::prepare(std::move(options));
    session->start();
    MemoryOrder order;
    record_memory(order.next(), {}, this, 64, 64, 64);
    const MemoryMoment freed = order.next(), given_out_again = order.next();
    // The thread that reports first has the first log.
    record_memory(given_out_again, {}, this, 32, 32, 32);
    std::thread([&] { record_memory(freed, {}, this, -64, 0, 0); }).join();
    const trace::Recording recording = read(*session);
    EXPECT_EQ(recording.memory.time_ns.front(), recording.memory.time_ns.back()) << "all of them are within a nanosecond";
    return recording.memory.bytes;
  }

  FineClock fine_clock_;
};

TEST_F(OvertakenReportTest, ReportsAreInTheOrderOfTheAllocatorsLock) {
  EXPECT_THAT(overtake({}, [](Session& session) { return checked(session.stop()); }), ElementsAre(64, -64, 32));
}

TEST_F(OvertakenReportTest, ReportsOfASpillFileAreInTheOrderOfTheAllocatorsLock) {
  const tests::TemporaryFolder folder;
  const std::string path = folder / "spill.mtrec";
  const auto read = [&](Session& session) {
    session.stop();
    return checked(ingest::load_recording(path).recording);
  };
  EXPECT_THAT(overtake({.budget = {.policy = Budget::Policy::kSpill, .spill_path = path}}, read), ElementsAre(64, -64, 32));
}

TEST_F(HooksTest, AHostThatCannotRecordIsReportedAndRecordingGoesOn) {
  FakeHost host;
  host.problem_ = "no callbacks";
  register_host(&host);
  auto session = started();
  scope("a");
  EXPECT_THAT(session->source_problems(), ElementsAre("host fake: no callbacks"));
  EXPECT_EQ(stopped(*session).events.size(), 1u);
  unregister_host(&host);
}

TEST(Abi, AHostOfAnotherVersionIsRefused) {
  EXPECT_NO_THROW(check_abi(kAbiVersion));
  EXPECT_THAT([] { check_abi(kAbiVersion + 1); }, ThrowsMessage<Error>(HasSubstr("rebuild it")));
}

TEST_F(HooksTest, InstantsHaveNoDuration) {
  auto session = started();
  clock_.advance(3);
  record_instant(intern("mark"));
  clock_.advance(3);
  const trace::Recording recording = stopped(*session);
  EXPECT_EQ(recording.events.kind[0], trace::EventKind::kInstant);
  EXPECT_EQ(recording.events.start_ns[0], 3);
  EXPECT_EQ(recording.events.duration_ns[0], 0);
}

TEST_F(HooksTest, AnAttributeThatComesTooLateIsCountedNotMisplaced) {
  auto session = started();
  {
    OpScope outer(intern("outer"));
    for (int i = 0; i < 5000; ++i) scope("inner", 1);
    add_attribute(outer.slot(), intern("key"), std::int64_t{1});
  }
  const trace::Recording recording = stopped(*session);
  EXPECT_TRUE(recording.attributes.empty());
  EXPECT_EQ(lost(recording, trace::LossReason::kSideData), 1u);
}

}  // namespace
}  // namespace mindtorch::record
