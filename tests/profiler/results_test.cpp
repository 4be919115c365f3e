// Results: the last cycle, all cycles, metadata.
#include "mindtorch/profiler/results.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

#include "mindtorch/base/error.h"
#include "mindtorch/trace/builder.h"
#include "mindtorch/trace/file.h"
#include "mindtorch/trace/invariants.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::profiler {
namespace {

trace::Recording cycle(std::string_view name, int events) {
  trace::RecordingBuilder builder;
  const trace::TrackId thread = builder.add_thread(1);
  for (int i = 0; i < events; ++i) builder.add_event({.name = name, .track = thread, .start_ns = i});
  return builder.finish();
}

TEST(Results, BeforeTheFirstCycleThereIsAnEmptyRecording) {
  const Results results(false);
  EXPECT_TRUE(results.empty());
  EXPECT_EQ(results.events()->events.size(), 0U);
  EXPECT_EQ(results.last_cycle()->events.size(), 0U);
}

TEST(Results, OnlyTheLastCycleIsKeptUnlessCyclesAreAccumulated) {
  Results results(false);
  results.keep(cycle("a", 3));
  results.keep(cycle("b", 2));
  EXPECT_EQ(results.events()->events.size(), 2U);
  EXPECT_EQ(results.last_cycle(), results.events());
}

TEST(Results, AccumulatedCyclesAreAllThereAndTheLastCycleIsStillKnown) {
  Results results(true);
  results.keep(cycle("a", 3));
  EXPECT_EQ(results.last_cycle(), results.events()) << "one cycle need not be stored twice";
  results.keep(cycle("b", 2));
  results.keep(cycle("c", 4));
  EXPECT_EQ(results.events()->events.size(), 9U);
  EXPECT_EQ(results.last_cycle()->events.size(), 4U);
  EXPECT_EQ(trace::check_invariants(*results.events()), "");
}

class SpilledResultsTest : public ::testing::Test {
 protected:
  // What a spilling session hands over, and the file it leaves.
  trace::Recording spill(int events) {
    trace::save(cycle("a", events), path_);
    trace::Recording summary;
    summary.trace_id = "id";
    return summary;
  }
  tests::TemporaryFolder folder_;
  std::string path_ = folder_ / "spilled.mtrec";
};

TEST_F(SpilledResultsTest, EventsAreReadWhenTheyAreAskedFor) {
  Results results(false);
  results.keep_spilled(spill(3), path_);
  results.set_metadata("key", "1");
  EXPECT_EQ(results.events()->events.size(), 3U);
  EXPECT_EQ(results.last_cycle(), results.events());
  EXPECT_EQ(results.events()->trace_id, "id");
  EXPECT_EQ(results.events()->metadata.at("key"), "1");
}

TEST_F(SpilledResultsTest, AccumulatedCyclesAreReadBeforeTheNextOneIsWritten) {
  Results results(true);
  results.keep_spilled(spill(3), path_);
  results.forget_spilled();
  results.keep_spilled(spill(2), path_);
  EXPECT_EQ(results.events()->events.size(), 5U);
  EXPECT_EQ(results.last_cycle()->events.size(), 2U);
}

TEST_F(SpilledResultsTest, AFileThatIsWrittenAnewIsNotTakenForTheCycleBefore) {
  Results results(false);
  results.keep_spilled(spill(3), path_);
  results.forget_spilled();
  spill(2);
  EXPECT_EQ(results.events()->events.size(), 0U);
}

TEST_F(SpilledResultsTest, AMissingFileIsAnErrorOfTheCallThatAsks) {
  Results results(false);
  results.keep_spilled(spill(3), folder_ / "other.mtrec");
  EXPECT_THROW(results.events(), IoError);
}

TEST(Results, WhatWasHandedOutIsNotChangedByTheNextCycle) {
  Results results(true);
  results.keep(cycle("a", 3));
  const auto first = results.events();
  results.keep(cycle("b", 2));
  const auto second = results.events();
  results.keep(cycle("c", 1));
  EXPECT_EQ(first->events.size(), 3U);
  EXPECT_EQ(second->events.size(), 5U);
  EXPECT_EQ(results.events()->events.size(), 6U);
}

TEST(Results, AccumulatedCyclesBearTheIdOfTheLast) {
  Results results(true);
  for (const char* id : {"first", "second"}) {
    trace::Recording recording = cycle("a", 1);
    recording.trace_id = id;
    results.keep(std::move(recording));
  }
  EXPECT_EQ(results.events()->trace_id, "second");
}

TEST(Results, TheAnalysisIsMadeOnceForEachCycle) {
  Results results(false);
  EXPECT_EQ(results.analysis()->recording().events.size(), 0U);
  results.keep(cycle("a", 3));
  const auto analysis = results.analysis();
  EXPECT_EQ(results.analysis(), analysis);
  results.keep(cycle("b", 2));
  EXPECT_EQ(results.analysis()->recording().events.size(), 2U);
  EXPECT_EQ(analysis->recording().events.size(), 3U);
}

TEST(Results, MetadataIsInWhatIsThereAndInWhatComes) {
  for (const bool accumulate : {false, true}) {
    Results results(accumulate);
    results.set_metadata("before", "1");
    results.keep(cycle("a", 1));
    results.keep(cycle("b", 1));
    results.set_metadata("after", "\"x\"");
    results.set_metadata("before", "2");
    for (const auto& recording : {results.events(), results.last_cycle()}) {
      EXPECT_EQ(recording->metadata.at("before"), "2");
      EXPECT_EQ(recording->metadata.at("after"), "\"x\"");
    }
  }
}

TEST(Results, MetadataOfACycleThatSomebodyReadsStayAsTheyAre) {
  for (const bool accumulate : {false, true}) {
    Results results(accumulate);
    results.keep(cycle("a", 3));
    results.set_metadata("key", "1");
    auto first = results.last_cycle();
    results.set_metadata("key", "2");
    EXPECT_EQ(first->metadata.at("key"), "1");
    const auto second = results.last_cycle();
    EXPECT_EQ(first->metadata.at("key"), "1");
    EXPECT_EQ(second->metadata.at("key"), "2");
    EXPECT_EQ(second->events.size(), 3U);
    EXPECT_EQ(results.events()->metadata.at("key"), "2");
  }
}

TEST(Results, ACycleThatNobodyReadsIsNotCopiedForItsMetadata) {
  Results results(false);
  results.keep(cycle("a", 3));
  const trace::Recording* const first = results.last_cycle().get();
  results.set_metadata("key", "1");
  EXPECT_EQ(results.last_cycle().get(), first);
  {
    const auto read = results.last_cycle();
    results.set_metadata("key", "2");
  }
  EXPECT_EQ(results.last_cycle().get(), first) << "the reader was gone when it was asked for again";
  EXPECT_EQ(results.last_cycle()->metadata.at("key"), "2");
}

TEST(Results, MetadataSetWhileACycleIsReadAreInTheNextOne) {
  Results results(true);
  results.keep(cycle("a", 1));
  const auto first = results.last_cycle();
  results.set_metadata("key", "1");
  results.keep(cycle("b", 1));
  EXPECT_EQ(first->metadata.count("key"), 0U);
  EXPECT_EQ(results.last_cycle()->metadata.at("key"), "1");
  EXPECT_EQ(results.events()->metadata.at("key"), "1");
  EXPECT_EQ(results.events()->events.size(), 2U);
}

TEST(Results, MetadataMayBeSetWhileOtherThreadsRead) {
  Results results(false);
  results.keep(cycle("a", 3));
  results.set_metadata("key", "0");
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done) {
      const auto recording = results.last_cycle();
      const std::string before = recording->metadata.at("key");
      EXPECT_EQ(recording->metadata.at("key"), before);
      EXPECT_EQ(recording->events.size(), 3U);
    }
  });
  for (int i = 0; i < 2000; ++i) results.set_metadata("key", std::to_string(i));
  done = true;
  reader.join();
  EXPECT_EQ(results.last_cycle()->metadata.at("key"), "1999");
}

}  // namespace
}  // namespace mindtorch::profiler
