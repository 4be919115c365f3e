// Cause lanes: rows of a thread add up to the time of its steps.
#include "mindtorch/analyze/report/cause_lanes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "mindtorch/analyze/report/ledger.h"
#include "mindtorch/ingest/load_trace.h"
#include "tests/analyze/recordings.h"
#include "tests/support/random_recording.h"
#include "tests/support/sample_recordings.h"

namespace mindtorch::analyze {
namespace {

TEST(CauseLanes, RowsAreWholeAndOtherThreadsOfOneNameAreOneLane) {
  Maker maker;
  for (int k = 0; k < 2; ++k) {
    maker.step(k, 1000 * k, 1000);
    for (int op = 0; op < 40; ++op) maker.op("aten::op" + std::to_string(op), 1000 * k + 20 * op, 10);
  }
  for (int worker = 0; worker < 3; ++worker) {
    const trace::TrackId track = maker.builder().add_thread(200 + worker, "pool-" + std::to_string(worker));
    maker.add({.name = "aten::mm", .track = track, .start_ns = 100, .duration_ns = 200});
  }
  maker.kernel("mm", 100, 500, 1);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Phases phases(analysis);
  const Ledger ledger(analysis, phases);
  const std::vector<CauseLane> lanes = cause_lanes(analysis, phases, ledger, 10);
  ASSERT_EQ(lanes.size(), 3U);
  EXPECT_TRUE(lanes[0].is_main);
  EXPECT_TRUE(lanes[1].is_device);
  EXPECT_EQ(lanes[2].name, "3 threads pool");
  for (const CauseLane& lane : lanes) {
    EXPECT_EQ(lane.ns_per_step, 1000) << lane.name;
    const double share =
        std::accumulate(lane.rows.begin(), lane.rows.end(), 0.0, [](double sum, const CauseRow& row) { return sum + row.share; });
    EXPECT_NEAR(share, 1, 1e-9) << lane.name;
  }
  EXPECT_EQ(lanes[0].rows[0].cause, cause_name(Cause::kUnknown));
  EXPECT_EQ(lanes[0].rows[0].ns_per_step, 600);
}

// Every recording that the tests of this project keep or make: traces that torch wrote, recordings of steps, devices and several threads.
std::vector<std::pair<std::string, trace::Recording>> all_recordings() {
  std::vector<std::pair<std::string, trace::Recording>> all = tests::sample_recordings();
  all.emplace_back("sampled", tests::sampled_recording());
  all.emplace_back("large", tests::large_recording(2000));
  for (std::uint32_t seed = 0; seed < 20; ++seed)
    all.emplace_back("random " + std::to_string(seed), trace::RandomRecording(seed).make(150));
  const std::filesystem::path data(MINDTORCH_TEST_DATA);
  for (const std::filesystem::path& folder : {data, data / "../../fuzz/corpus/mtrec", data / "../../doubles/cupti/data"}) {
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      const std::string name = file.path().filename().string();
      if (!name.ends_with(".mtrec") && !name.starts_with("torch_")) continue;
      all.emplace_back(name, ingest::load_trace(file.path().string()).recording);
    }
  }
  return all;
}

// The time of the steps that are judged, in which each thread lives.
std::int64_t judged_time(const Ledger& ledger, const Attribution& attribution, trace::TrackId track) {
  std::int64_t time = 0;
  ledger.for_judged(attribution.of(track), [&](const Segment&, std::int64_t part) { time += part; });
  return time;
}

TEST(CauseLanes, TheCausesOfEachThreadOfAnyRecordingAddUpToItsWallTime) {
  std::size_t threads = 0;
  for (const auto& [name, recording] : all_recordings()) {
    const Analysis analysis(recording);
    const Phases phases(analysis);
    const Attribution& attribution = phases.attribution();
    const RecordedTime time = attribution.time();
    for (trace::TrackId t = 0; t < recording.tracks.size(); ++t) {
      if (recording.tracks[t].kind != trace::Track::Kind::kThread) continue;
      std::int64_t sum = 0, now = time.start_ns;
      for (const Segment& segment : attribution.of(t)) {
        ASSERT_EQ(segment.start_ns, now) << name << ", track " << t << ": a gap, or time that counts twice";
        now = segment.end_ns;
        sum += segment.duration_ns();
      }
      EXPECT_EQ(sum, time.end_ns - time.start_ns) << name << ", track " << t;
      ++threads;
    }
    const Ledger ledger(analysis, phases);
    for (const CauseLane& lane : cause_lanes(analysis, phases, ledger, 5)) {
      double shares = 0;
      std::int64_t rows = 0;
      for (const CauseRow& row : lane.rows) shares += row.share, rows += row.ns_per_step;
      if (lane.ns_per_step == 0) continue;
      EXPECT_NEAR(shares, 1, 1e-3) << name << ", " << lane.name;
      // Each row is rounded down to whole nanoseconds per step.
      EXPECT_NEAR(static_cast<double>(rows), static_cast<double>(lane.ns_per_step),
                  1e-3 * static_cast<double>(lane.ns_per_step) + static_cast<double>(lane.rows.size()))
          << name << ", " << lane.name;
      if (!lane.is_main || phases.judged_tracks().size() > 1) continue;
      EXPECT_EQ(lane.ns_per_step, ledger.per_step(judged_time(ledger, attribution, phases.main_track()))) << name;
    }
  }
  EXPECT_GT(threads, 60U) << "recordings of several threads are among them";
}

TEST(CauseLanes, ThreadsOfAPoolAreOneLaneOfTheirWork) {
  Maker maker;
  trace::RecordingBuilder& builder = maker.builder();
  builder.recording().options.sampling_interval_ns = 10;
  builder.recording().clock.end_ns = 1000;
  const std::vector<trace::Frame> frames = {{builder.intern("server.py"), builder.intern("serve"), 1}};
  const trace::Frame waits{builder.intern("/usr/lib/python3.12/socketserver.py"), builder.intern("serve_forever"), 1};
  builder.add_sample(0, 1000, maker.thread(), std::vector<trace::Frame>{waits, frames[0]}, trace::ThreadState::kWaitsForIo);
  for (int request = 0; request < 3; ++request)
    builder.add_sample(100 + 200 * request, 60, builder.add_thread(200 + request, "handler-" + std::to_string(request)), frames,
                       trace::ThreadState::kRunning);
  const trace::Recording recording = maker.finish();
  const Analysis analysis(recording);
  const Phases phases(analysis);
  const Ledger ledger(analysis, phases);
  const std::vector<CauseLane> lanes = cause_lanes(analysis, phases, ledger);
  ASSERT_EQ(lanes.size(), 2U) << "the pool, and the thread that waits for requests";
  EXPECT_EQ(lanes[0].name, "3 threads handler, while they have work");
  EXPECT_TRUE(lanes[0].is_main);
  EXPECT_EQ(lanes[0].ns_per_step, ledger.total_ns()) << "what is judged is what is shown";
}

TEST(CauseLanes, AnEmptyRecordingHasNone) {
  const trace::Recording recording;
  const Analysis analysis(recording);
  const Phases phases(analysis);
  EXPECT_TRUE(cause_lanes(analysis, phases, Ledger(analysis, phases)).empty());
}

}  // namespace
}  // namespace mindtorch::analyze
