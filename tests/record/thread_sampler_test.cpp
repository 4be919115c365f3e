// The sampler of the process as a source of sessions: its samples lie on the tracks of their threads, and end with the session.
#include "mindtorch/record/thread_sampler.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "mindtorch/ingest/recording_file.h"
#include "tests/record/recorded.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::record {
namespace {

using testing::Contains;
using testing::HasSubstr;
using trace::ThreadState;

constexpr std::chrono::nanoseconds kInterval = std::chrono::milliseconds(5);
constexpr std::int32_t kOtherThread = 4'000'001;  // no thread of this process

// A sampler whose samples a test makes up.
class MadeUpSampler : public ActivitySource {
 public:
  void sample(std::uint64_t start, std::uint64_t end, std::int32_t thread, const std::string& function, ThreadState state) {
    const trace::Frame frame{batch_.name_id("program.py"), batch_.name_id(function), 7};
    batch_.samples.push_back({start, end, thread, batch_.stack_id({&frame, 1}), state});
  }
  void write() { options_->write_records(batch_); }
  void has_begun_in_other_process() { batch_.threads[kOtherThread] = {"worker", 77}; }

  std::string_view name() const override { return "made up"; }
  DeviceType device_type() const override { return DeviceType::kCpu; }
  Status probe() override { return is_there_ ? Status::ok() : Status::unavailable("it is not there"); }
  Status prepare(const SourceOptions& options) override {
    options_ = std::make_unique<SourceOptions>(options);
    return Status::ok();
  }
  Status start() override { return Status::ok(); }
  void toggle(bool) override {}
  DeviceBatch stop() override { return std::exchange(batch_, {}); }
  std::chrono::nanoseconds interval() const { return options_->sampling_interval; }

  bool is_there_ = true;

 private:
  DeviceBatch batch_;
  std::unique_ptr<SourceOptions> options_;
};

class ThreadSamplerTest : public RecordedTest {
 protected:
  ThreadSamplerTest() { set_thread_sampler(&sampler_); }
  ~ThreadSamplerTest() override { set_thread_sampler(nullptr); }

  static std::string function_of(const trace::Recording& recording, std::size_t sample) {
    return recording.names[recording.stacks.frames[recording.stacks.frames_of(recording.samples.stack[sample])[0]].function];
  }

  MadeUpSampler sampler_;
};

TEST_F(ThreadSamplerTest, SamplesLieOnTheTrackOfTheirThreadAndEndWithTheSession) {
  auto session = started({.sampling_interval = kInterval});
  EXPECT_EQ(sampler_.interval(), kInterval);
  scope("scope");
  const std::uint64_t start = clock_.now();
  sampler_.has_begun_in_other_process();
  sampler_.sample(start + 20, start + 900, kOtherThread, "waits", ThreadState::kWaitsForIo);
  sampler_.sample(start + 10, start + 30, ::gettid(), "runs", ThreadState::kRunning);
  sampler_.sample(start + 5000, start + 6000, ::gettid(), "is over", ThreadState::kRunning);
  clock_.advance(100);
  const trace::Recording recording = stopped(*session);

  ASSERT_EQ(recording.samples.size(), 2u);
  EXPECT_EQ(recording.options.sampling_interval_ns, kInterval.count());
  EXPECT_EQ(function_of(recording, 0), "runs");
  EXPECT_EQ(recording.samples.duration_ns[0], 20);
  EXPECT_EQ(recording.samples.state[0], ThreadState::kRunning);
  EXPECT_EQ(recording.samples.track[0], recording.track_of(0)) << "the thread that recorded the scope";
  EXPECT_EQ(function_of(recording, 1), "waits");
  EXPECT_EQ(recording.samples.end_ns(1), recording.clock.end_ns);
  const trace::Track& other = recording.tracks[recording.samples.track[1]];
  EXPECT_EQ(other.name, "worker");
  EXPECT_EQ(other.pid, 77);
  EXPECT_EQ(other.id, kOtherThread);
}

TEST_F(ThreadSamplerTest, WithoutAnIntervalNobodyIsAsked) {
  auto session = started();
  sampler_.sample(clock_.now(), clock_.now() + 1, ::gettid(), "runs", ThreadState::kRunning);
  clock_.advance(10);
  EXPECT_EQ(stopped(*session).samples.size(), 0u);
}

TEST_F(ThreadSamplerTest, OneThatCannotWorkIsAProblemAndTheRecordingClaimsNothing) {
  sampler_.is_there_ = false;
  auto session = started({.sampling_interval = kInterval});
  EXPECT_THAT(session->source_problems(), Contains(HasSubstr("it is not there")));
  EXPECT_EQ(stopped(*session).options.sampling_interval_ns, 0);
  set_thread_sampler(nullptr);
  session = started({.sampling_interval = kInterval});
  EXPECT_THAT(session->source_problems(), Contains(HasSubstr("no sampler of threads")));
  EXPECT_EQ(stopped(*session).options.sampling_interval_ns, 0);
}

TEST_F(ThreadSamplerTest, WhatIsOlderThanTheWindowIsDroppedAndCounted) {
  auto session = started({.budget = {.policy = Budget::Policy::kKeepLast, .keep_steps = 1}, .sampling_interval = kInterval});
  for (int step = 0; step < 4; ++step) {
    session->mark_step(step);
    const std::uint64_t start = clock_.now();
    sampler_.sample(start + 1, start + 50, ::gettid(), "step " + std::to_string(step), ThreadState::kRunning);
    clock_.advance(100);
  }
  const trace::Recording recording = stopped(*session);
  EXPECT_GT(recording.samples.size(), 0u);
  EXPECT_GT(lost(recording, trace::LossReason::kOverwritten), 0u);
  EXPECT_EQ(recording.samples.size() + lost(recording, trace::LossReason::kOverwritten), 4u);
  EXPECT_EQ(function_of(recording, recording.samples.size() - 1), "step 3");
}

TEST_F(ThreadSamplerTest, ASpillHasSamplesAsSoonAsTheyAreWritten) {
  const tests::TemporaryFolder folder;
  const std::string path = folder / "spill.mtrec";
  auto session = started({.budget = {.policy = Budget::Policy::kSpill, .spill_path = path}, .sampling_interval = kInterval});
  scope("scope");
  const std::uint64_t start = clock_.now();
  sampler_.sample(start + 10, start + 30, ::gettid(), "runs", ThreadState::kRunning);
  clock_.advance(50);
  sampler_.write();
  const trace::LoadResult unfinished = ingest::load_recording(path);
  EXPECT_EQ(unfinished.recording.samples.size(), 1u) << "of a program that would be killed now";
  sampler_.sample(start + 40, start + 45, kOtherThread, "waits", ThreadState::kSleeps);
  static_cast<void>(session->stop());
  const trace::LoadResult loaded = ingest::load_recording(path);
  const trace::Recording& recording = loaded.recording;
  ASSERT_EQ(trace::check_invariants(recording), "");
  ASSERT_EQ(recording.samples.size(), 2u);
  EXPECT_EQ(recording.options.sampling_interval_ns, kInterval.count());
  EXPECT_EQ(recording.samples.duration_ns[0], 20);
  EXPECT_EQ(function_of(recording, 1), "waits");
  EXPECT_EQ(recording.tracks[recording.samples.track[1]].id, kOtherThread);
}

}  // namespace
}  // namespace mindtorch::record
