// Snapshots: what a session holds, read while it goes on recording.
#include <gmock/gmock.h>

#include <atomic>
#include <thread>

#include "mindtorch/record/block_pool.h"
#include "mindtorch/record/input_writer.h"
#include "tests/record/recorded.h"

namespace mindtorch::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using trace::LossReason;

constexpr std::int64_t kMegabyte = std::int64_t{1} << 20;

class SnapshotTest : public RecordedTest {
 protected:
  void steps(Session& session, int first, int count, int events_per_step = 300) {
    for (int step = first; step < first + count; ++step) {
      session.mark_step(step);
      for (int i = 0; i < events_per_step; ++i) scope("work", 1);
      clock_.advance(1);
    }
  }
};

TEST_F(SnapshotTest, HoldsWhatWasRecordedAndRecordingGoesOn) {
  auto session = started();
  scope("first");
  EXPECT_THAT(event_names(snapshot_of(*session)), ElementsAre("first"));
  scope("second");
  EXPECT_THAT(event_names(snapshot_of(*session)), ElementsAre("first", "second"));
  scope("third");
  EXPECT_THAT(event_names(stopped(*session)), ElementsAre("first", "second", "third"));
}

TEST_F(SnapshotTest, TwoSnapshotsOfARingBothHoldTheLastSteps) {
  auto session = started({.budget = {.policy = Budget::Policy::kKeepLast, .bytes = 64 * kMegabyte, .keep_steps = 20}});
  steps(*session, 0, 100);
  const trace::Recording first = snapshot_of(*session);
  steps(*session, 100, 1);
  const trace::Recording second = snapshot_of(*session);
  EXPECT_EQ(first.events.size(), 21u * 300);  // the running step too
  EXPECT_EQ(first.steps.front().step, 79);
  EXPECT_EQ(second.events.size(), 21u * 300);
  EXPECT_EQ(second.steps.front().step, 80);
  EXPECT_EQ(second.events.size() + lost(second, LossReason::kOverwritten), 101u * 300);
}

TEST_F(SnapshotTest, AWindowOfTimeIsWholeInEachSnapshot) {
  auto session = started({.budget = {.policy = Budget::Policy::kKeepLast, .bytes = 64 * kMegabyte, .keep_ns = 3010}});  // ten steps
  steps(*session, 0, 50);
  for (int step = 50; step < 55; ++step) {
    steps(*session, step, 1);
    const trace::Recording recording = snapshot_of(*session);
    EXPECT_EQ(recording.steps.front().step, step - 10);
    EXPECT_EQ(recording.events.size(), 11u * 300);
  }
}

TEST_F(SnapshotTest, TheLastPartOfItLeavesOutWhatBeganEarlier) {
  auto session = started();
  steps(*session, 0, 50);
  const std::int64_t last = 10 * 301;  // of fifty steps
  const trace::Recording part = session->snapshot(std::chrono::nanoseconds(last));
  EXPECT_EQ(part.steps.front().step, 40);
  EXPECT_EQ(part.steps.back().step, 49);
  EXPECT_EQ(part.clock.end_ns - part.clock.start_ns, last);
  EXPECT_EQ(part.events.size() + lost(part, LossReason::kOverwritten), 50u * 300);
  EXPECT_EQ(stopped(*session).events.size(), 50u * 300);
}

TEST_F(SnapshotTest, AScopeThatIsOpenEndsWithTheSnapshotAndIsWholeLater) {
  auto session = started();
  {
    NamedScope outer("outer");
    clock_.advance(100);
    const trace::Recording recording = snapshot_of(*session);
    EXPECT_EQ(recording.events.duration_ns[0], 100);
    EXPECT_EQ(lost(recording, LossReason::kUnfinished), 1u);
    clock_.advance(100);
  }
  const trace::Recording whole = stopped(*session);
  EXPECT_EQ(whole.events.duration_ns[0], 200);
  EXPECT_EQ(lost(whole, LossReason::kUnfinished), 0u);
}

TEST_F(SnapshotTest, ArgumentsAndMemoryAreInEachSnapshot) {
  auto session = started({.shapes = true, .memory = true});
  const std::int64_t sizes[] = {3, 5};
  {
    OpScope op(intern("aten::add"));
    InputWriter inputs(op);
    inputs.tensor(trace::ScalarType::kFloat, sizes, sizes, 2, true);
  }
  record_memory({}, this, 64, 0, 0);
  for (int i = 0; i < 2; ++i) {
    const trace::Recording recording = snapshot_of(*session);
    EXPECT_FALSE(recording.inputs.find(0).empty());
    EXPECT_EQ(recording.memory.size(), 1u);
  }
}

TEST_F(SnapshotTest, TheMemoryOfARingStaysBoundedWhateverIsReadFromIt) {
  auto session = started({.budget = {.policy = Budget::Policy::kKeepLast, .bytes = 64 * kMegabyte, .keep_steps = 5}});
  steps(*session, 0, 50);
  snapshot_of(*session);
  steps(*session, 50, 50);
  const std::int64_t before = session->bytes_in_use();
  const std::size_t mapped = BlockPool::instance().mapped_bytes();
  for (int round = 2; round < 12; ++round) {
    snapshot_of(*session);
    steps(*session, 50 * round, 50);
  }
  EXPECT_LE(session->bytes_in_use(), before + static_cast<std::int64_t>(kBlockBytes));
  EXPECT_EQ(BlockPool::instance().mapped_bytes(), mapped);
}

// Threads fill and recycle a small ring all the time that snapshots are read. ThreadSanitizer checks that nothing is written over.
TEST_F(SnapshotTest, ThreadsRecordWhileSnapshotsAreRead) {
  auto session = started({.shapes = true, .memory = true, .budget = {.policy = Budget::Policy::kKeepLast, .bytes = 2 * kMegabyte}});
  const NameId name = intern("aten::mul");
  constexpr int kThreads = 3, kOps = 20'000;  // about twice what the ring holds
  std::atomic<int> running{kThreads};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      const std::int64_t sizes[] = {t, 2, 3};
      for (int i = 0; i < kOps; ++i) {
        OpScope op(name);
        { InputWriter(op).tensor(trace::ScalarType::kFloat, sizes, sizes, 3, true); }
        record_memory({}, &running, 8, 0, 0);
        NamedScope inner("inner");
      }
      --running;
    });
  std::thread stepping([&] {
    for (std::int64_t step = 0; step < 1000; ++step) session->mark_step(step);
  });
  do {
    const trace::Recording recording = snapshot_of(*session);
    for (trace::EventIndex event = 0; event < recording.events.size(); ++event)
      ASSERT_THAT(std::string(recording.name(event)), testing::AnyOf("aten::mul", "inner"));
  } while (running > 0);
  stepping.join();
  for (std::thread& thread : threads) thread.join();
  const trace::Recording whole = stopped(*session);
  EXPECT_EQ(whole.events.size() + lost(whole, LossReason::kOverwritten), 2u * kThreads * kOps);
}

TEST_F(SnapshotTest, ThreadsThatHaveEndedLeaveTheRingWithTheirEvents) {
  auto session = started({.budget = {.policy = Budget::Policy::kKeepLast, .bytes = 64 * kMegabyte, .keep_steps = 2}});
  std::int64_t after_ten = 0;
  for (int step = 0; step < 100; ++step) {
    session->mark_step(step);
    std::thread([&] { scope("worker", 1); }).join();
    clock_.advance(1);
    if (step == 10) after_ten = session->bytes_in_use();
  }
  EXPECT_LE(session->bytes_in_use(), after_ten);
  const trace::Recording recording = stopped(*session);
  EXPECT_EQ(recording.events.size(), 3u);
  EXPECT_EQ(lost(recording, LossReason::kOverwritten), 97u);
}

TEST_F(SnapshotTest, OnlyARunningSessionThatKeepsItsEventsCanBeRead) {
  auto session = Session::prepare({.clock = &clock_});
  EXPECT_THAT([&] { session->snapshot(); }, ThrowsMessage<Error>(HasSubstr("not running")));
  session->start();
  session->stop();
  EXPECT_THAT([&] { session->snapshot(); }, ThrowsMessage<Error>(HasSubstr("not running")));
  session.reset();
  const std::string path = testing::TempDir() + "/snapshot.mtrec";
  auto spilling = started({.budget = {.policy = Budget::Policy::kSpill, .spill_path = path}});
  EXPECT_THAT([&] { spilling->snapshot(); }, ThrowsMessage<Error>(HasSubstr("go to a file")));
  spilling->stop();
}

}  // namespace
}  // namespace mindtorch::record
