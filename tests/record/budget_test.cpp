// The byte budget: growing up to a cap, keeping the last steps or bytes. Whatever is not kept is counted.
#include <gmock/gmock.h>

#include <optional>
#include <thread>

#include "mindtorch/record/input_writer.h"
#include "mindtorch/record/log_storage.h"
#include "mindtorch/record/session_core.h"
#include "tests/record/recorded.h"

namespace mindtorch::record {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using trace::LossReason;

using BudgetTest = RecordedTest;
constexpr std::int64_t kMegabyte = std::int64_t{1} << 20;

TEST_F(BudgetTest, GrowRefusesEventsBeyondTheCapAndCountsEachOfThem) {
  auto session = started({.budget = {.policy = Budget::Policy::kGrow, .bytes = kMegabyte}});
  constexpr int kEvents = 50'000;
  for (int i = 0; i < kEvents; ++i) scope("x", 1);
  EXPECT_LE(session->bytes_in_use(), kMegabyte);
  const trace::Recording recording = stopped(*session);
  EXPECT_EQ(recording.events.size(), kMegabyte / sizeof(Slot));
  EXPECT_EQ(recording.events.size() + lost(recording, LossReason::kBudget), kEvents);
}

TEST_F(BudgetTest, GrowIsOneBudgetForAllThreads) {
  auto session = started({.budget = {.policy = Budget::Policy::kGrow, .bytes = kMegabyte}});
  constexpr int kEvents = 20'000, kThreads = 4;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < kEvents; ++i) NamedScope it("x");
    });
  for (std::thread& thread : threads) thread.join();
  const trace::Recording recording = stopped(*session);
  EXPECT_LE(recording.events.size(), kMegabyte / sizeof(Slot));
  EXPECT_EQ(recording.events.size() + lost(recording, LossReason::kBudget), kEvents * kThreads);
}

TEST_F(BudgetTest, SideDataThatDoesNotFitIsCountedAndItsEventIsKept) {
  auto session = started({.shapes = true});
  std::vector<std::int64_t> sizes(4, 1);
  {
    OpScope op(intern("aten::cat"));
    InputWriter inputs(op);
    inputs.tensor_list(10'000);
    for (int i = 0; i < 10'000; ++i) inputs.list_tensor(trace::ScalarType::kFloat, sizes.data(), sizes.data(), 4, true);
  }
  {
    OpScope op(intern("aten::add"));
    InputWriter inputs(op);
    inputs.tensor(trace::ScalarType::kFloat, sizes.data(), sizes.data(), 4, true);
  }
  const trace::Recording recording = stopped(*session);
  EXPECT_EQ(recording.events.size(), 2u);
  EXPECT_EQ(lost(recording, LossReason::kSideData), 1u);
  EXPECT_TRUE(recording.inputs.find(0).empty());
  EXPECT_FALSE(recording.inputs.find(1).empty());
}

TEST_F(BudgetTest, ARowOfArgumentsMayCrossIntoANewChunk) {
  auto session = started({.shapes = true});
  constexpr int kOps = 3000;
  const std::int64_t sizes[] = {3, 5, 7};
  for (int i = 0; i < kOps; ++i) {
    OpScope op(intern("aten::add"));
    InputWriter inputs(op);
    for (int t = 0; t < i % 17; ++t) inputs.tensor(trace::ScalarType::kFloat, sizes, sizes, 3, t % 2 == 0);
    inputs.integer(i);
  }
  const trace::Recording recording = stopped(*session);
  ASSERT_EQ(recording.inputs.events.size(), static_cast<std::size_t>(kOps));
  for (int i = 0; i < kOps; ++i) {
    const std::vector<trace::Input> inputs = trace::decode_inputs(recording.inputs.find(static_cast<trace::EventIndex>(i)));
    ASSERT_EQ(inputs.size(), static_cast<std::size_t>(i % 17 + 1));
    ASSERT_EQ(inputs.back().integer, i);
  }
  EXPECT_TRUE(recording.losses.empty());
}

class KeepLastTest : public BudgetTest, public testing::WithParamInterface<int> {};

TEST_P(KeepLastTest, HoldsExactlyTheLastStepsAndCountsTheRest) {
  const int keep = GetParam();
  constexpr int kSteps = 200, kEventsPerStep = 300;  // a step boundary falls anywhere in a segment
  auto session = started({.memory = true, .budget = {.policy = Budget::Policy::kKeepLast, .bytes = 64 * kMegabyte, .keep_steps = keep}});
  for (int step = 0; step < kSteps; ++step) {
    session->mark_step(step);
    NamedScope marker("step", trace::EventKind::kStep);
    for (int i = 1; i < kEventsPerStep; ++i) scope("work", 1);
    record_memory({}, this, step, 0, 0);
    clock_.advance(1);  // what has the time of the mark belongs to the next step
  }
  session->mark_step(kSteps);
  const trace::Recording recording = stopped(*session);
  ASSERT_EQ(recording.events.size(), static_cast<std::size_t>(keep * kEventsPerStep));
  std::map<std::int64_t, int> events_of_step;
  for (const std::int64_t start : recording.events.start_ns) ++events_of_step[recording.step_at(start)];
  ASSERT_EQ(events_of_step.size(), static_cast<std::size_t>(keep));
  for (int step = kSteps - keep; step < kSteps; ++step) EXPECT_EQ(events_of_step[step], kEventsPerStep);
  EXPECT_EQ(recording.events.size() + lost(recording, LossReason::kOverwritten), static_cast<std::size_t>(kSteps * kEventsPerStep));
  ASSERT_EQ(recording.memory.size(), static_cast<std::size_t>(keep));
  EXPECT_EQ(recording.memory.bytes[0], kSteps - keep);
}
INSTANTIATE_TEST_SUITE_P(Steps, KeepLastTest, testing::Values(1, 2, 7, 20, 150, 199));

TEST_F(BudgetTest, KeepLastBoundsMemoryByTheWindowNotByTheRun) {
  auto session = started({.budget = {.policy = Budget::Policy::kKeepLast, .bytes = 64 * kMegabyte, .keep_steps = 3}});
  std::int64_t after_ten = 0;
  for (int step = 0; step < 500; ++step) {
    session->mark_step(step);
    for (int i = 0; i < 1000; ++i) scope("work", 1);
    if (step == 10) after_ten = session->bytes_in_use();
  }
  EXPECT_LE(session->bytes_in_use(), after_ten);
}

// A thread whose segments no event ends.
TEST_F(BudgetTest, KeepLastHoldsTheBudgetForAThreadThatReportsMemoryAlone) {
  constexpr std::int64_t kReports = 400'000;
  auto session = started({.memory = true, .budget = {.policy = Budget::Policy::kKeepLast, .bytes = 2 * kMegabyte}});
  std::int64_t most = 0;
  for (std::int64_t i = 1; i <= kReports; ++i) {
    record_memory({}, this, i, 0, 0);
    if (i % 1000 == 0) most = std::max(most, session->bytes_in_use());
  }
  EXPECT_LE(most, 2 * kMegabyte);
  const trace::Recording recording = stopped(*session);
  EXPECT_GT(recording.memory.size(), 20'000u);
  EXPECT_EQ(recording.memory.bytes.back(), kReports) << "the newest are kept";
  EXPECT_EQ(static_cast<std::int64_t>(recording.memory.size() + lost(recording, LossReason::kSideData)), kReports);
}

TEST_F(BudgetTest, KeepLastBoundsReportsOfMemoryByTheWindowNotByTheRun) {
  constexpr int kSteps = 300, kReportsPerStep = 3'000, kKeep = 3;
  auto session = started({.memory = true, .budget = {.policy = Budget::Policy::kKeepLast, .bytes = 64 * kMegabyte, .keep_steps = kKeep}});
  std::int64_t after_twenty = 0;
  for (int step = 0; step < kSteps; ++step) {
    session->mark_step(step);
    for (int i = 0; i < kReportsPerStep; ++i) {
      record_memory({}, this, step, 0, 0);
      clock_.advance(1);
    }
    if (step == 20) after_twenty = session->bytes_in_use();
  }
  session->mark_step(kSteps);
  EXPECT_LE(session->bytes_in_use(), after_twenty);
  const trace::Recording recording = stopped(*session);
  ASSERT_EQ(recording.memory.size(), static_cast<std::size_t>(kKeep * kReportsPerStep));
  EXPECT_EQ(recording.memory.bytes.front(), kSteps - kKeep);
  EXPECT_EQ(recording.memory.size() + lost(recording, LossReason::kSideData), static_cast<std::size_t>(kSteps * kReportsPerStep));
}

TEST_F(BudgetTest, KeepLastKeepsRecentReportsOfMemoryBesideOldEvents) {
  constexpr int kReports = 40'000;
  auto session = started({.memory = true, .budget = {.policy = Budget::Policy::kKeepLast, .bytes = 64 * kMegabyte, .keep_steps = 1}});
  scope("old");
  session->mark_step(1);
  session->mark_step(2);
  for (int i = 0; i < kReports; ++i) record_memory({}, this, i, 0, 0);
  for (std::uint32_t i = 0; i < 3 * kSlotsPerSegment; ++i) scope("new", 1);
  const trace::Recording recording = stopped(*session);
  EXPECT_EQ(recording.memory.size(), static_cast<std::size_t>(kReports));
  EXPECT_EQ(lost(recording, LossReason::kSideData), 0u);
}

TEST_F(BudgetTest, KeepLastForgetsTheMarksOfStepsThatAreGone) {
  SessionCore core({.budget = {.policy = Budget::Policy::kKeepLast, .keep_steps = 3}, .clock = &clock_}, 1);
  for (int step = 0; step < 500; ++step) core.mark_step(static_cast<std::uint64_t>(10 * step), step);
  EXPECT_LT(core.steps().size(), 8u);
  EXPECT_EQ(core.steps().back().step, 499);
  EXPECT_EQ(core.window_start(), 4960u) << "the running step and three before it";
}

TEST_F(BudgetTest, KeepLastByTimeKeepsTheStepsOfThatTimeWhole) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  auto session = started({.budget = {.policy = Budget::Policy::kKeepLast, .bytes = 64 * kMegabyte, .keep_ns = 10 * kSecond}});
  for (int step = 0; step < 100; ++step) {
    session->mark_step(step);
    for (int i = 0; i < 1000; ++i) scope("x", 1);
    clock_.advance(static_cast<std::uint64_t>(3 * kSecond));
  }
  const trace::Recording recording = stopped(*session);
  ASSERT_FALSE(recording.steps.empty());
  // At the last mark, the tenth second before it lay in the fourth step before.
  EXPECT_EQ(recording.steps.front().step, 95);
  EXPECT_EQ(recording.steps.front().time_ns, recording.clock.start_ns);
  EXPECT_EQ(recording.events.size(), 5000u);
  EXPECT_EQ(lost(recording, LossReason::kOverwritten), 95'000u);
}

// The clock is fed: a day passes at full speed.
TEST_F(BudgetTest, ARingThatIsFilledForADayTakesNoMoreMemoryThanForAMinute) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  auto session = started({.budget = {.policy = Budget::Policy::kKeepLast, .bytes = 64 * kMegabyte, .keep_ns = 60 * kSecond}});
  std::int64_t after_an_hour = 0;
  for (int step = 0; step < 24 * 3600; ++step) {
    session->mark_step(step);
    for (int i = 0; i < 30; ++i) scope("x", 1);
    clock_.advance(kSecond);
    if (step == 3600) after_an_hour = session->bytes_in_use();
  }
  EXPECT_EQ(session->bytes_in_use(), after_an_hour);
  const trace::Recording recording = stopped(*session);
  EXPECT_EQ(recording.steps.size(), 61u);
  EXPECT_EQ(recording.events.size(), 61u * 30);
  EXPECT_LT(recording.clock.domains.at(0).samples, 8193u);
}

TEST_F(BudgetTest, KeepLastWithoutStepsKeepsTheLastBytes) {
  auto session = started({.budget = {.policy = Budget::Policy::kKeepLast, .bytes = kMegabyte}});
  constexpr int kEvents = 200'000;
  for (int i = 0; i < kEvents; ++i) scope("x", 1);
  EXPECT_LE(session->bytes_in_use(), kMegabyte);
  const trace::Recording recording = stopped(*session);
  EXPECT_GE(recording.events.size(), kMegabyte / sizeof(Slot) - 2 * kSlotsPerSegment);
  EXPECT_EQ(recording.events.size() + lost(recording, LossReason::kOverwritten), kEvents);
  EXPECT_EQ(recording.events.end_ns(static_cast<trace::EventIndex>(recording.events.size() - 1)), recording.clock.end_ns)
      << "the newest are kept";
}

TEST_F(BudgetTest, UnderGrowThreadsThatHaveEndedTakeWhatTheyRecordedAndNoMore) {
  constexpr int kThreads = 2000;
  SessionOptions options;
  options.shapes = true;
  options.budget.bytes = 2 << 20;
  auto session = started(options);
  for (int i = 0; i < kThreads; ++i) {
    std::thread([&] {
      OpScope op(intern("request"));
      add_attribute(op.slot(), intern("i"), std::int64_t{i});
    }).join();
  }
  EXPECT_LE(session->bytes_in_use(), 400 * kThreads);
  const trace::Recording recording = stopped(*session);
  EXPECT_TRUE(recording.losses.empty());
  ASSERT_EQ(recording.events.size(), static_cast<std::size_t>(kThreads));
  for (trace::EventIndex i = 0; i < kThreads; ++i) ASSERT_EQ(recording.attributes.find(i)[0].bits, i);
}

TEST_F(BudgetTest, ARingDropsTheOldestOfTheThreadsThatHaveEnded) {
  constexpr int kThreads = 200, kEvents = 1500;
  SessionOptions options;
  options.budget = {.policy = Budget::Policy::kKeepLast, .bytes = 2 << 20};
  auto session = started(options);
  std::int64_t most = 0;
  for (int i = 0; i < kThreads; ++i) {
    std::thread([&] {
      for (int k = 0; k < kEvents; ++k) scope(i < kThreads / 2 ? "old" : "new", 1);
    }).join();
    most = std::max(most, session->bytes_in_use());
  }
  EXPECT_LE(most, (2 << 20) + static_cast<std::int64_t>(kBlockBytes));
  const trace::Recording recording = stopped(*session);
  auto counts = name_counts(recording);
  EXPECT_EQ(counts["old"], 0);
  EXPECT_GT(counts["new"], 10 * kEvents);
  EXPECT_EQ(recording.events.size() + lost(recording, trace::LossReason::kOverwritten), static_cast<std::size_t>(kThreads) * kEvents);
  EXPECT_LE(recording.losses.size(), 2u);
}

TEST_F(BudgetTest, ASnapshotOfARingHoldsThreadsThatHaveEnded) {
  SessionOptions options;
  options.budget = {.policy = Budget::Policy::kKeepLast, .bytes = 2 << 20};
  auto session = started(options);
  std::thread([&] { scope("ended"); }).join();
  EXPECT_EQ(name_counts(snapshot_of(*session))["ended"], 1);
  EXPECT_EQ(name_counts(snapshot_of(*session))["ended"], 1);
  EXPECT_EQ(name_counts(stopped(*session))["ended"], 1);
}

TEST_F(BudgetTest, AScopeOfAThreadThatHasEndedIsClosedByAnother) {
  for (const auto policy : {Budget::Policy::kGrow, Budget::Policy::kKeepLast}) {
    SessionOptions options;
    options.budget = {.policy = policy, .bytes = 2 << 20};
    auto session = started(options);
    std::optional<NamedScope> open;
    std::thread([&] { open.emplace("handed over"); }).join();
    for (int i = 0; i < 100; ++i) std::thread([&] { scope("other"); }).join();
    clock_.advance(5);
    open->close();
    const trace::Recording recording = stopped(*session);
    EXPECT_TRUE(recording.losses.empty());
    EXPECT_EQ(recording.name(0), "handed over");
    EXPECT_EQ(recording.events.duration_ns[0], 1005);
  }
}

TEST_F(BudgetTest, AScopeThatOutlivesItsPlaceInTheRingClosesWithoutHarm) {
  auto session = started({.budget = {.policy = Budget::Policy::kKeepLast, .bytes = kMegabyte}});
  for (int round = 0; round < 5; ++round) {
    NamedScope outer("outer");
    OpScope op(intern("outer op"));
    for (int i = 0; i < 100'000; ++i) scope("x", 1);
  }
  const trace::Recording recording = stopped(*session);
  for (trace::EventIndex i = 0; i < recording.events.size(); ++i)
    ASSERT_TRUE(recording.name(i) != "x" || recording.events.duration_ns[i] == 1) << i;
}

TEST_F(BudgetTest, BadBudgetsAreRefusedWithTheValueAndTheProcessStaysFree) {
  EXPECT_THAT([&] { started({.budget = {.bytes = 100}}); }, ThrowsMessage<InvalidArgument>(HasSubstr("must be at least 1048576, got 100")));
  EXPECT_THAT([&] { started({.budget = {.policy = Budget::Policy::kKeepLast, .keep_steps = -1}}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("got -1")));
  EXPECT_THAT([&] { started({.budget = {.policy = Budget::Policy::kKeepLast, .keep_ns = -2}}); },
              ThrowsMessage<InvalidArgument>(HasSubstr("got -2")));
  EXPECT_THAT([&] { started({.budget = {.policy = Budget::Policy::kSpill}}); }, ThrowsMessage<InvalidArgument>(HasSubstr("spill_path")));
  EXPECT_NO_THROW(started()->stop());
}

}  // namespace
}  // namespace mindtorch::record
