// RecordFunction: scopes of the user's.
#include "mindtorch/profiler/record_function.h"

#include <gmock/gmock.h>

#include <stdexcept>
#include <thread>
#include <vector>

#include "mindtorch/profiler/profile.h"
#include "tests/profiler/names_of.h"

namespace mindtorch::profiler {
namespace {

using ::testing::ElementsAre;

// What `work` records, with a clock on which every reading is later than the one before.
template <class Work>
std::shared_ptr<const trace::Recording> recording_of(Work&& work) {
  static record::FakeClock clock;  // outlives the scopes that are open when recording stops
  clock.tick_by(10);
  Profile profile({.activities = {Activity::kCpu}, .clock = &clock});
  profile.start();
  work();
  profile.stop();
  return profile.recording();
}

TEST(RecordFunction, DoesNothingWhileNothingRecords) {
  RecordFunction scope("idle", "args");
  EXPECT_FALSE(scope.recording());
  scope.close();
}

TEST(RecordFunction, NestsWithTheOuterListedFirst) {
  const auto recording = recording_of([] {
    RecordFunction outer("outer");
    RecordFunction inner("inner");
  });
  ASSERT_THAT(names_of(*recording), ElementsAre("outer", "inner"));
  EXPECT_EQ(recording->events.kind[0], trace::EventKind::kScope);
  EXPECT_LT(recording->events.start_ns[0], recording->events.start_ns[1]);
  EXPECT_GT(recording->events.end_ns(0), recording->events.end_ns(1));
}

TEST(RecordFunction, IsClosedByAnException) {
  const auto recording = recording_of([] {
    try {
      RecordFunction scope("throws");
      throw std::runtime_error("out");
    } catch (const std::runtime_error&) {
    }
    RecordFunction after("after");
  });
  ASSERT_THAT(names_of(*recording), ElementsAre("throws", "after"));
  EXPECT_EQ(recording->events.flags[0] & trace::kUnfinished, 0);
  EXPECT_LE(recording->events.end_ns(0), recording->events.start_ns[1]);
}

TEST(RecordFunction, CanBeMovedAndIsClosedOnce) {
  const auto recording = recording_of([] {
    RecordFunction first("moved");
    RecordFunction second = std::move(first);
    EXPECT_TRUE(second.recording());
    EXPECT_FALSE(first.recording());  // NOLINT(bugprone-use-after-move)
    second.close();
    EXPECT_FALSE(second.recording());
    second.close();
    second = RecordFunction("assigned");
  });
  EXPECT_THAT(names_of(*recording), ElementsAre("moved", "assigned"));
}

TEST(RecordFunction, ClosedOnAnotherThreadItIsMarkedAsAsync) {
  const auto recording = recording_of([] {
    RecordFunction scope("travels");
    std::thread([moved = std::move(scope)]() mutable { moved.close(); }).join();
  });
  ASSERT_THAT(names_of(*recording), ElementsAre("travels"));
  EXPECT_NE(recording->events.flags[0] & trace::kAsync, 0);
  EXPECT_EQ(recording->events.flags[0] & trace::kUnfinished, 0);
}

TEST(RecordFunction, ArgsHangOnTheEvent) {
  const auto recording = recording_of([] {
    RecordFunction with("with", "batch=3");
    RecordFunction without("without");
  });
  const auto attributes = recording->attributes.find(0);
  ASSERT_EQ(attributes.size(), 1U);
  EXPECT_EQ(recording->names[attributes[0].key], "args");
  EXPECT_EQ(recording->names[static_cast<std::size_t>(attributes[0].bits)], "batch=3");
  EXPECT_TRUE(recording->attributes.find(1).empty());
}

TEST(RecordFunction, OpenAcrossStartItIsNotRecordedAndOpenAcrossStopItIsUnfinished) {
  RecordFunction early("early");
  std::optional<RecordFunction> late;
  const auto recording = recording_of([&] { late.emplace("late"); });
  late.reset();
  ASSERT_THAT(names_of(*recording), ElementsAre("late"));
  EXPECT_NE(recording->events.flags[0] & trace::kUnfinished, 0);
}

}  // namespace
}  // namespace mindtorch::profiler
