// Attribution: each moment of a thread has one cause, and the sums are whole.
#include "mindtorch/analyze/attribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mindtorch/analyze/analysis.h"
#include "tests/analyze/recordings.h"
#include "tests/support/random_recording.h"

namespace mindtorch::analyze {
namespace {

using trace::EventKind;
using trace::ThreadState;

std::int64_t time_of(const Attribution& attribution, Cause cause) {
  std::int64_t sum = 0;
  for (const Segment& segment : attribution.of(attribution.main_track())) sum += segment.cause == cause ? segment.duration_ns() : 0;
  return sum;
}

void expect_whole(const Attribution& attribution, const trace::Recording& recording, std::uint32_t seed) {
  for (trace::TrackId t = 0; t < recording.tracks.size(); ++t) {
    const auto lane = attribution.of(t);
    if (recording.tracks[t].kind != trace::Track::Kind::kThread) {
      EXPECT_TRUE(lane.empty());
      continue;
    }
    std::int64_t now = attribution.time().start_ns;
    for (const Segment& segment : lane) {
      ASSERT_EQ(segment.start_ns, now) << "seed " << seed;
      ASSERT_GT(segment.end_ns, segment.start_ns) << "seed " << seed;
      now = segment.end_ns;
    }
    EXPECT_EQ(now, attribution.time().end_ns) << "seed " << seed;
  }
}

class Sampled : public Maker {
 public:
  Sampled() { builder().recording().options.sampling_interval_ns = 10; }
  void sample(std::int64_t time, std::int64_t duration, ThreadState state, const std::vector<Place>& innermost_first = {}) {
    std::vector<trace::Frame> frames;
    for (const Place& place : innermost_first)
      frames.push_back({builder().intern(place.file), builder().intern(place.function), place.line});
    builder().add_sample(time, duration, thread(), frames, state);
  }
};

TEST(Attribution, TheSegmentsOfAnyRecordingCoverItsTimeOnce) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const trace::Recording recording = random_recording(seed, 200);
    expect_whole(Attribution(Analysis(recording)), recording, seed);
  }
}

TEST(Attribution, SoDoThoseOfRecordingsWithSamples) {
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    const trace::Recording recording = trace::RandomRecording(seed).make(150);
    expect_whole(Attribution(Analysis(recording)), recording, seed);
  }
}

TEST(Attribution, SamplesNameTheTimeOutsideOfOps) {
  Sampled maker;
  maker.op("aten::mm", 0, 100);
  maker.sample(110, 40, ThreadState::kRunning, {{"train.py", 7, "slow"}});
  maker.sample(150, 50, ThreadState::kSleeps, {{"train.py", 9, "nap"}});
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Attribution attribution(analysis);
  EXPECT_EQ(time_of(attribution, Cause::kForward), 100);
  EXPECT_EQ(time_of(attribution, Cause::kPython), 45) << "from 100 to 145: half way between the looks at 140 and 150";
  EXPECT_EQ(time_of(attribution, Cause::kSleep), 55);
  EXPECT_EQ(time_of(attribution, Cause::kUnknown), 0);
  EXPECT_EQ(attribution.place(attribution.of(0).back().place).line, "train.py:9:nap");
}

TEST(Attribution, ALibraryCallIsWhatItsFunctionStandsFor) {
  Sampled maker;
  maker.op("aten::mm", 0, 10);
  maker.sample(20, 80, ThreadState::kWaitsForLock, {{"/usr/lib/python3.12/queue.py", 170, "get"}, {"train.py", 5, "main"}});
  maker.sample(100, 100, ThreadState::kRunning, {{"torch/_dynamo/convert_frame.py", 900, "compile"}, {"train.py", 6, "main"}});
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Attribution attribution(analysis);
  EXPECT_GT(time_of(attribution, Cause::kThread), 80);
  EXPECT_GT(time_of(attribution, Cause::kCompiling), 90);
  EXPECT_EQ(time_of(attribution, Cause::kLock), 0);
}

TEST(Attribution, OpsKeepTheirCauseButForTheGilAndGarbage) {
  Sampled maker;
  maker.op("aten::mm", 0, 100);
  maker.sample(10, 30, ThreadState::kRunning, {{"train.py", 5, "main"}});
  maker.sample(40, 60, ThreadState::kCollectsGarbage, {{"train.py", 5, "main"}});
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Attribution attribution(analysis);
  EXPECT_EQ(time_of(attribution, Cause::kForward) + time_of(attribution, Cause::kGarbage), 100);
  EXPECT_GT(time_of(attribution, Cause::kGarbage), 50);
}

TEST(Attribution, RecordedCallsNameTheFunction) {
  Maker maker;
  maker.op("train.py(3): main", 0, 1000, EventKind::kPythonFunction);
  maker.op("aten::mm", 100, 100);
  maker.op("<built-in function sleep>", 300, 400, EventKind::kPythonFunction);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Attribution attribution(analysis);
  EXPECT_EQ(time_of(attribution, Cause::kForward), 100);
  EXPECT_EQ(time_of(attribution, Cause::kSleep), 400);
  EXPECT_EQ(time_of(attribution, Cause::kPython), 500);
  EXPECT_EQ(attribution.place(attribution.place_at(0, 350)).line, "train.py:3:main");
}

TEST(Attribution, ACallInsideOfALoaderIsLoading) {
  Maker maker;
  maker.scope("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 500);
  maker.op("data.py(8): __getitem__", 100, 300, EventKind::kPythonFunction);
  maker.op("<built-in function sleep>", 200, 100, EventKind::kPythonFunction);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Attribution attribution(analysis);
  EXPECT_EQ(time_of(attribution, Cause::kLoading), 500);
  EXPECT_EQ(attribution.place(attribution.place_at(0, 250)).line, "data.py:8:__getitem__");
}

TEST(Attribution, ACollectiveOnAnotherThreadExplainsWhatTheMainThreadWaitsFor) {
  Maker maker;
  maker.step(1, 0, 1000);
  maker.op("MulBackward0", 0, 300, EventKind::kBackward);
  const trace::TrackId gloo = maker.builder().add_thread(200);
  maker.add({.name = "gloo:all_reduce", .kind = EventKind::kScope, .track = gloo, .start_ns = 200, .duration_ns = 600});
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Attribution attribution(analysis);
  EXPECT_EQ(time_of(attribution, Cause::kBackward), 300);
  EXPECT_EQ(time_of(attribution, Cause::kCollective), 500);
  EXPECT_EQ(time_of(attribution, Cause::kUnknown), 200);
}

TEST(Attribution, NothingIsKnownOfAThreadLongBeforeAndAfterItWasSeen) {
  Sampled maker;
  maker.op("aten::mm", 0, 100);
  maker.sample(500, 40, ThreadState::kRunning, {{"server.py", 7, "answer"}});
  maker.op("aten::mm", 900, 100);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Attribution attribution(analysis);
  EXPECT_EQ(time_of(attribution, Cause::kPython), 80) << "the sample, and two intervals before and after it";
  EXPECT_EQ(time_of(attribution, Cause::kUnknown), 720);
}

// A thread of a server lives for one request, which is shorter than the time between two looks.
TEST(Attribution, AThreadThatLivesShortlyIsNotChargedWithTheTimeAroundIt) {
  Sampled maker;
  maker.op("aten::mm", 0, 1000);
  const trace::TrackId answer = maker.builder().add_thread(200);
  maker.add({.name = "aten::linear", .kind = EventKind::kOp, .track = answer, .start_ns = 500, .duration_ns = 4});
  const std::vector<trace::Frame> frames = {{maker.builder().intern("server.py"), maker.builder().intern("answer"), 7}};
  maker.builder().add_sample(502, 10, answer, frames, ThreadState::kRunning);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Attribution attribution(analysis);
  std::int64_t known = 0;
  for (const Segment& segment : attribution.of(answer)) known += segment.cause == Cause::kUnknown ? 0 : segment.duration_ns();
  EXPECT_EQ(known, 4 + 3) << "its op, and the time until half an interval before it was missed";
}

TEST(Attribution, APlaceIsSeenOnlyInTheMomentOfALook) {
  Sampled maker;
  maker.op("aten::mm", 0, 40);
  maker.op("aten::add", 50, 4);
  maker.sample(10, 10, ThreadState::kRunning, {{"train.py", 7, "forward"}});
  maker.sample(20, 40, ThreadState::kRunning, {{"train.py", 7, "forward"}});
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Attribution attribution(analysis);
  for (const Segment& segment : attribution.of(0)) {
    if (segment.event == kNoEvent) continue;
    const bool is_first = segment.start_ns < 40;
    EXPECT_EQ(segment.is_seen, is_first || segment.cause == Cause::kPython) << segment.start_ns;
  }
}

TEST(Attribution, AnEmptyRecordingHasNoTime) {
  const trace::Recording recording;
  const Attribution attribution{Analysis(recording)};
  EXPECT_EQ(attribution.time().start_ns, attribution.time().end_ns);
  EXPECT_FALSE(attribution.sees_python());
}

}  // namespace
}  // namespace mindtorch::analyze
