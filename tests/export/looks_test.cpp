// Looks: a thread that runs has one per interval, one that waits a single one.
#include "mindtorch/export/looks.h"

#include <gmock/gmock.h>

#include <limits>

#include "mindtorch/trace/builder.h"
#include "tests/support/sample_recordings.h"

namespace mindtorch::exporter {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using trace::ThreadState;

std::vector<std::int64_t> times(const std::vector<Look>& looks) {
  std::vector<std::int64_t> all;
  for (const Look& look : looks) all.push_back(look.time_ns);
  return all;
}

trace::Recording one_sample(std::int64_t interval, std::int64_t duration, ThreadState state) {
  trace::RecordingBuilder builder;
  builder.recording().options.sampling_interval_ns = interval;
  const trace::TrackId track = builder.add_thread(7);
  builder.add_sample(100, duration, track, {}, state);
  return builder.finish();
}

TEST(Looks, AThreadThatRunsHasOnePerInterval) {
  EXPECT_THAT(times(looks_of(one_sample(10, 35, ThreadState::kRunning))[0]), ElementsAre(100, 110, 120));
  EXPECT_THAT(times(looks_of(one_sample(10, 5, ThreadState::kRunning))[0]), ElementsAre(100)) << "it was looked at once";
  EXPECT_THAT(times(looks_of(one_sample(0, 35, ThreadState::kRunning))[0]), ElementsAre(100)) << "the interval is not known";
}

TEST(Looks, AThreadThatWaitsHasOneHoweverLong) {
  for (const ThreadState state : {ThreadState::kSleeps, ThreadState::kWaitsForIo, ThreadState::kWaitsForLock, ThreadState::kUnknown})
    EXPECT_THAT(times(looks_of(one_sample(10, 1'000'000, state))[0]), ElementsAre(100));
}

TEST(Looks, ADamagedDurationDoesNotFillTheMemory) {
  const trace::Recording recording = one_sample(1, std::numeric_limits<std::int64_t>::max() / 2, ThreadState::kRunning);
  EXPECT_LE(looks_of(recording)[0].size(), 1'000'000U);
}

TEST(Looks, TheyAreOfTheirTrackInOrderOfTime) {
  const std::vector<std::vector<Look>> looks = looks_of(tests::sampled_recording());
  ASSERT_EQ(looks.size(), 3U);
  EXPECT_EQ(looks[0].size(), 5U * (3 + 4 + 1));
  EXPECT_EQ(looks[1].size(), 1U + 5U) << "it sleeps, and then asks for the GIL five times";
  EXPECT_THAT(looks[2], IsEmpty());
  EXPECT_TRUE(std::ranges::is_sorted(times(looks[0])));
}

TEST(Looks, OnlyAThreadThatRunsNeedsNoFrameForItsState) {
  for (int state = 0; state < trace::kThreadStates; ++state)
    EXPECT_EQ(state_frame(static_cast<ThreadState>(state)).empty(), static_cast<ThreadState>(state) == ThreadState::kRunning);
}

}  // namespace
}  // namespace mindtorch::exporter
