// Clock samples: bracketed, narrow, one at each end at least.
#include "mindtorch/sources/clock_sampler.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

namespace mindtorch::sources {
namespace {

constexpr std::chrono::milliseconds kNever = std::chrono::hours(1);

TEST(ClockSampler, BracketsEachReadingWithTheSessionsClock) {
  record::FakeClock clock;
  clock.tick_by(10);
  ClockSampler sampler(kNever);
  sampler.start(clock, {[&](std::uint64_t* ticks) {
                  *ticks = 1'000'000 + clock.now();
                  return true;
                }});
  const auto samples = sampler.stop();
  ASSERT_EQ(samples.size(), 1u);
  ASSERT_EQ(samples[0].size(), 2u) << "one at the start, one at the stop";
  for (const auto& sample : samples[0]) {
    EXPECT_EQ(sample.host_after - sample.host_before, 10u);
    EXPECT_GE(sample.device_ticks - 1'000'000, sample.host_before);
    EXPECT_LE(sample.device_ticks - 1'000'000, sample.host_after);
  }
}

TEST(ClockSampler, KeepsTheNarrowestOfAFewAttempts) {
  record::FakeClock clock;
  clock.tick_by(1);
  int reads = 0;
  ClockSampler sampler(kNever);
  sampler.start(clock, {[&](std::uint64_t* ticks) {
                  if (++reads != 3) clock.advance(500);  // an interrupt, except at the third attempt
                  *ticks = static_cast<std::uint64_t>(reads);
                  return true;
                }});
  EXPECT_EQ(sampler.stop()[0][0].device_ticks, 3u);
}

TEST(ClockSampler, GoesOnSamplingWhileItRuns) {
  record::FakeClock clock;
  std::mutex mutex;
  std::condition_variable read;
  int reads = 0;
  ClockSampler sampler(std::chrono::milliseconds(1));
  sampler.start(clock, {[&](std::uint64_t* ticks) {
                  std::lock_guard lock(mutex);
                  *ticks = static_cast<std::uint64_t>(++reads);
                  read.notify_one();
                  return true;
                }});
  std::unique_lock lock(mutex);
  read.wait(lock, [&] { return reads > 100; });
  lock.unlock();
  EXPECT_GT(sampler.stop()[0].size(), 5u);
}

TEST(ClockSampler, ThinsOldSamplesAndKeepsNewOnesOfARecordingThatNeverEnds) {
  record::FakeClock clock;
  std::uint64_t reads = 0;
  ClockSampler sampler(kNever);
  sampler.start(clock, {[&](std::uint64_t* ticks) {
                  *ticks = ++reads;
                  return true;
                }});
  const std::uint64_t first = sampler.so_far()[0].front().device_ticks;
  for (int i = 0; i < 10'000; ++i) {
    sampler.sample_now();
    sampler.thin(100);
    ASSERT_LE(sampler.so_far()[0].size(), 100u);
  }
  const auto samples = sampler.stop()[0];
  EXPECT_EQ(samples.front().device_ticks, first) << "the first sample spans the recording";
  const std::uint64_t step = samples.back().device_ticks - samples[samples.size() - 2].device_ticks;
  for (std::size_t i = samples.size() - 30; i < samples.size(); ++i)
    EXPECT_EQ(samples[i].device_ticks - samples[i - 1].device_ticks, step) << "new samples are all there";
}

TEST(ClockSampler, LeavesOutAClockThatCannotBeRead) {
  record::FakeClock clock;
  ClockSampler sampler(kNever);
  bool is_there = true;
  sampler.start(clock, {[&](std::uint64_t* ticks) {
                          *ticks = 1;
                          return is_there;
                        },
                        [](std::uint64_t*) { return false; }});
  is_there = false;
  sampler.sample_now();
  const auto samples = sampler.stop();
  EXPECT_EQ(samples[0].size(), 1u);
  EXPECT_TRUE(samples[1].empty());
}

TEST(ClockSampler, HasNothingBeforeItIsStarted) {
  ClockSampler sampler;
  EXPECT_TRUE(sampler.stop().empty());
}

}  // namespace
}  // namespace mindtorch::sources
