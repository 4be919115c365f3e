// Device records on the host's timeline: clocks, tracks, links and losses, through a source made by hand.
// Tests mindtorch/record/device_batch too.
#include "mindtorch/record/device_mapping.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "mindtorch/ingest/recording_file.h"
#include "mindtorch/trace/invariants.h"
#include "tests/record/recorded.h"

namespace mindtorch::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;
using trace::EventKind;
using trace::LossReason;

// A device whose clock runs at half speed from another zero.
class FakeSource : public ActivitySource {
 public:
  explicit FakeSource(FakeClock& clock) : clock_(clock) {}
  std::uint64_t device_now() const { return 5'000'000 + clock_.now() / 2; }
  void sample() { batch_.clocks[0].samples.push_back({device_now(), clock_.now() - 10, clock_.now() + 10}); }
  // A launch now on the calling thread, and its kernel `delay` later for `duration` (host nanoseconds).
  void launch(const std::string& name, std::uint64_t delay, std::uint64_t duration, std::uint64_t correlation, std::int32_t stream = 7) {
    batch_.records.push_back({.start = clock_.now(),
                              .end = clock_.now() + 2,
                              .correlation = correlation,
                              .name = batch_.name_id("aclrtLaunchKernel"),
                              .lane = ::gettid(),
                              .kind = EventKind::kRuntime,
                              .clock = 1,
                              .device = {DeviceType::kNpu, 0},
                              .launches = true});
    const std::uint64_t start = device_now() + delay / 2;
    const trace::Attribute grid = batch_.attribute("grid", std::int64_t{4});
    batch_.records.push_back({.start = start,
                              .end = start + duration / 2,
                              .correlation = correlation,
                              .name = batch_.name_id(name),
                              .detail = batch_.details.add({&grid, 1}),
                              .lane = stream,
                              .kind = EventKind::kKernel,
                              .device = {DeviceType::kNpu, 0}});
  }

  void measure(double value) {
    CounterSeries& power = batch_.counters[batch_.counter_id("power", "W", {DeviceType::kNpu, 0})];
    power.ticks.push_back(device_now());
    power.values.push_back(value);
  }

  std::string_view name() const override { return "fake"; }
  trace::DeviceType device_type() const override { return DeviceType::kNpu; }
  Status probe() override { return Status::ok(); }
  Status prepare(const SourceOptions& options) override {
    write_records_ = options.write_records;
    return problem_.empty() ? Status::ok() : Status::unavailable(problem_);
  }
  Status start() override {
    batch_.clocks = {{"fake-npu:0", false, 0.5, {}}, {"session", true, 1.0, {}}};
    sample();
    return Status::ok();
  }
  void toggle(bool on) override { toggles_.push_back(on); }
  DeviceBatch stop() override {
    sample();
    return std::move(batch_);
  }

  // Hands over what there is, as far as the session takes it.
  void hand_over() {
    sample();
    write_records_(batch_);
  }

  DeviceBatch batch_;
  std::string problem_;
  std::function<void(DeviceBatch&)> write_records_;
  std::vector<bool> toggles_;

 private:
  FakeClock& clock_;
};

class DeviceMappingTest : public RecordedTest {
 protected:
  SessionOptions watched() {
    SessionOptions options;
    options.sources = {&source_};
    return options;
  }
  FakeSource source_{clock_};
};

TEST_F(DeviceMappingTest, KernelsLieOnTheirStreamAtHostTimeAndLaunchesOnTheirThread) {
  auto session = started(watched());
  clock_.advance(1000);
  {
    OpScope op(intern("aten::mm"), known({DeviceType::kNpu, 0}));
    clock_.advance(10);
    source_.launch("mm_kernel", 100, 400, 1);
    clock_.advance(90);
  }
  clock_.advance(2'000'000);
  const trace::Recording recording = stopped(*session);
  ASSERT_THAT(event_names(recording), ElementsAre("aten::mm", "aclrtLaunchKernel", "mm_kernel"));
  EXPECT_EQ(recording.tracks.size(), 2u);
  EXPECT_EQ(recording.tracks[1].kind, trace::Track::Kind::kStream);
  EXPECT_EQ(recording.tracks[1].id, 7);
  const std::int64_t bound = recording.clock.domains.at(1).error_bound_ns;
  EXPECT_EQ(recording.clock.domains[1].name, "fake-npu:0");
  EXPECT_NEAR(static_cast<double>(recording.events.start_ns[2]), 1110, static_cast<double>(bound));
  EXPECT_NEAR(static_cast<double>(recording.events.duration_ns[2]), 400, 2);
  EXPECT_EQ(recording.events.link[1], recording.events.link[2]);
  const auto attributes = recording.attributes.find(2);
  ASSERT_EQ(attributes.size(), 1u);
  EXPECT_EQ(recording.names[attributes[0].key], "grid");
  EXPECT_TRUE(recording.losses.empty());
}

TEST_F(DeviceMappingTest, SamplesOfCountersLieAtHostTimeInOrder) {
  auto session = started(watched());
  clock_.advance(1000);
  source_.measure(100);
  clock_.advance(1'000'000);
  source_.measure(200);
  std::reverse(source_.batch_.counters[0].ticks.begin(), source_.batch_.counters[0].ticks.end());
  std::reverse(source_.batch_.counters[0].values.begin(), source_.batch_.counters[0].values.end());
  const trace::Recording recording = stopped(*session);
  ASSERT_EQ(recording.counters.size(), 1u);
  const trace::CounterTrack& power = recording.counters[0];
  EXPECT_EQ(power.name, "power");
  EXPECT_EQ(power.unit, "W");
  EXPECT_THAT(power.values, ElementsAre(100, 200));
  const auto bound = static_cast<double>(recording.clock.domains.at(1).error_bound_ns);
  EXPECT_NEAR(static_cast<double>(power.times_ns[0]), 1000, bound);
  EXPECT_NEAR(static_cast<double>(power.times_ns[1]), 1'001'000, bound);
  EXPECT_TRUE(recording.losses.empty());
}

TEST_F(DeviceMappingTest, RecordsDeliveredLateAndOutOfOrderAreSortedIn) {
  auto session = started(watched());
  for (std::uint64_t i = 1; i <= 50; ++i) {
    clock_.advance(100'000);
    source_.launch("k" + std::to_string(i), 10, 20, i, static_cast<std::int32_t>(1 + i % 3));
  }
  std::reverse(source_.batch_.records.begin(), source_.batch_.records.end());
  const trace::Recording recording = stopped(*session);
  EXPECT_EQ(recording.events.size(), 100u);
  EXPECT_EQ(recording.tracks.size(), 4u) << "a launching thread that recorded nothing itself is a track too";
}

TEST_F(DeviceMappingTest, WhatCannotBeLinkedIsCounted) {
  auto session = started(watched());
  source_.launch("a", 1, 1, 1);
  source_.launch("b", 1, 1, 2);
  source_.launch("c", 1, 1, 3);
  source_.batch_.records.erase(source_.batch_.records.begin() + 1);  // the kernel of 1
  source_.batch_.records.erase(source_.batch_.records.begin() + 1);  // the launch of 2
  source_.batch_.dropped = 5;
  source_.batch_.dropped_detail = "buffers overflowed";
  const trace::Recording recording = stopped(*session);
  EXPECT_EQ(lost(recording, LossReason::kNoDeviceRecord), 1u);
  EXPECT_EQ(lost(recording, LossReason::kNoLaunch), 1u);
  EXPECT_EQ(lost(recording, LossReason::kDeviceDropped), 5u);
}

// Records of a session that keeps its last two steps; each step launches `launches` kernels, the first of which waits for the next step.
class KeptDeviceRecordsTest : public DeviceMappingTest {
 protected:
  static constexpr int kSteps = 20, kLaunches = 50, kKeep = 2;

  SessionOptions keeping() {
    SessionOptions options = watched();
    options.budget = {.policy = Budget::Policy::kKeepLast, .keep_steps = kKeep};
    return options;
  }
  void run(Session& session) {
    std::uint64_t correlation = 0;
    for (int step = 0; step < kSteps; ++step) {
      session.mark_step(step);
      for (int i = 0; i < kLaunches; ++i) {
        OpScope op(intern("op"));
        clock_.advance(1000);
        source_.launch("kernel of " + std::to_string(step), i == 0 ? 60'000 : 100, 50, ++correlation);
        clock_.advance(1000);
      }
    }
    session.mark_step(kSteps);
  }
};

TEST_F(KeptDeviceRecordsTest, KeepLastKeepsTheCallsOfTheLastStepsWithTheirWork) {
  auto session = started(keeping());
  run(*session);
  const trace::Recording recording = stopped(*session);
  auto counts = name_counts(recording);
  EXPECT_EQ(counts["op"], kKeep * kLaunches);
  EXPECT_EQ(counts["aclrtLaunchKernel"], kKeep * kLaunches);
  for (int step = 0; step < kSteps; ++step)
    EXPECT_EQ(counts["kernel of " + std::to_string(step)], step < kSteps - kKeep ? 0 : kLaunches) << step;
}

TEST_F(KeptDeviceRecordsTest, WhatIsOlderIsCountedAndNoLaunchLosesItsWork) {
  auto session = started(keeping());
  run(*session);
  source_.batch_.overwritten = 7;  // what the source has dropped itself
  const trace::Recording recording = stopped(*session);
  std::uint64_t device_losses = 0;
  for (const trace::Loss& loss : recording.losses)
    if (loss.where == "fake" && loss.reason == LossReason::kOverwritten) device_losses += loss.count;
  EXPECT_EQ(device_losses, 7u + 2 * (kSteps - kKeep) * kLaunches);
  EXPECT_EQ(lost(recording, LossReason::kNoDeviceRecord), 0u);
  EXPECT_EQ(lost(recording, LossReason::kNoLaunch), 0u);
}

TEST_F(KeptDeviceRecordsTest, OldSamplesOfCountersAreLeftOutAndCounted) {
  auto session = started(keeping());
  for (int step = 0; step < kSteps; ++step) {
    session->mark_step(step);
    clock_.advance(1000);
    source_.measure(step);
    clock_.advance(100'000);
  }
  session->mark_step(kSteps);
  const trace::Recording recording = stopped(*session);
  EXPECT_THAT(recording.counters.at(0).values, ElementsAre(kSteps - 2, kSteps - 1));
  EXPECT_EQ(lost(recording, LossReason::kOverwritten), static_cast<std::uint64_t>(kSteps - kKeep));
}

TEST_F(KeptDeviceRecordsTest, WorkWithoutACallIsKeptByItsOwnTime) {
  auto session = started(keeping());
  run(*session);
  std::erase_if(source_.batch_.records, [](const DeviceRecord& record) { return record.kind == EventKind::kRuntime; });
  const trace::Recording recording = stopped(*session);
  auto counts = name_counts(recording);
  EXPECT_EQ(counts["kernel of 17"], 0);
  EXPECT_EQ(counts["kernel of 18"] + counts["kernel of 19"], kKeep * kLaunches);
  EXPECT_EQ(lost(recording, LossReason::kNoLaunch), static_cast<std::uint64_t>(kKeep * kLaunches));
  EXPECT_EQ(lost(recording, LossReason::kOverwritten), static_cast<std::uint64_t>(2 * (kSteps - kKeep) * kLaunches));
}

TEST_F(DeviceMappingTest, WhatSourcesKnowAboutTheirDevicesIsOneList) {
  FakeSource other(clock_);
  const auto npu = [](std::uint8_t index) { return trace::DeviceProperties{{DeviceType::kNpu, index}, "npu", {{"cores", index}}}; };
  source_.batch_.devices = {npu(0), npu(1)};
  other.batch_.devices = {npu(2)};
  SessionOptions options = watched();
  options.sources.push_back(&other);
  auto session = started(options);
  EXPECT_THAT(stopped(*session).devices, ElementsAre(npu(0), npu(1), npu(2)));
}

TEST_F(DeviceMappingTest, ASourceThatCannotStartIsReportedAndTheHostIsRecordedAllTheSame) {
  source_.problem_ = "no driver";
  auto session = started(watched());
  scope("host");
  EXPECT_THAT(session->source_problems(), ElementsAre("source fake: no driver"));
  EXPECT_THAT(event_names(stopped(*session)), ElementsAre("host"));
}

TEST_F(DeviceMappingTest, TogglesReachTheSourcesOfThatDevice) {
  auto session = started(watched());
  session->toggle_source(DeviceType::kCuda, false);
  session->toggle_source(DeviceType::kNpu, false);
  session->toggle_source(DeviceType::kNpu, true);
  EXPECT_THAT(source_.toggles_, ElementsAre(false, true));
  stopped(*session);
}

TEST_F(DeviceMappingTest, ASpillingSessionWritesDeviceRecordsToo) {
  SessionOptions options = watched();
  const std::string path = testing::TempDir() + "mindtorch_device_spill.mtrec";
  options.budget = {.policy = Budget::Policy::kSpill, .bytes = std::int64_t{2} << 20, .spill_path = path};
  const std::vector<trace::DeviceProperties> devices = {{{DeviceType::kNpu, 0}, "npu", {{"totalGlobalMem", 4096}}}};
  source_.batch_.devices = devices;
  auto session = started(options);
  for (std::uint64_t i = 1; i <= 3000; ++i) {
    OpScope op(intern("aten::mm"));
    source_.launch("kernel", 100, 50, i);
    clock_.advance(1000);
  }
  session->stop();
  const trace::LoadResult loaded = ingest::load_recording(path);
  ::unlink(path.c_str());
  EXPECT_EQ(loaded.damage, std::nullopt);
  EXPECT_EQ(trace::check_invariants(loaded.recording), "");
  auto counts = name_counts(loaded.recording);
  EXPECT_EQ(counts["aten::mm"], 3000);
  EXPECT_EQ(counts["aclrtLaunchKernel"], 3000);
  EXPECT_EQ(counts["kernel"], 3000);
  EXPECT_EQ(loaded.recording.devices, devices);
}

class SpilledDeviceRecordsTest : public DeviceMappingTest {
 protected:
  void TearDown() override { ::unlink(path_.c_str()); }

  SessionOptions spilling() {
    SessionOptions options = watched();
    options.budget = {.policy = Budget::Policy::kSpill, .bytes = std::int64_t{2} << 20, .spill_path = path_};
    return options;
  }
  trace::Recording loaded() const {
    trace::LoadResult result = ingest::load_recording(path_, {.max_memory = ingest::kUnlimitedMemory});
    EXPECT_EQ(result.damage, std::nullopt);
    EXPECT_EQ(trace::check_invariants(result.recording), "");
    return std::move(result.recording);
  }
  const std::string path_ = testing::TempDir() + "mindtorch_device_records_" + std::to_string(::getpid()) + ".mtrec";
};

// A scope that spans many segments has its end written later, by its number among the events of its thread: calls that a source adds to the
// same thread must not change the numbers.
TEST_F(SpilledDeviceRecordsTest, RecordsThatAreHandedOverWhileTheSessionRunsAreInTheFile) {
  auto session = started(spilling());
  constexpr int kOps = 20'000, kBetween = 500;
  std::size_t most = 0;
  {
    NamedScope outer("outer");
    for (int i = 1; i <= kOps; ++i) {
      {
        OpScope op(intern("op"));
        clock_.advance(10);
        source_.launch("kernel", 100, 50, static_cast<std::uint64_t>(i));
        clock_.advance(90);
      }
      most = std::max(most, source_.batch_.records.size());
      if (i % kBetween == 0) source_.hand_over();
    }
  }
  const trace::Recording summary = stopped(*session);
  EXPECT_LE(most, 2u * kBetween);
  EXPECT_TRUE(summary.losses.empty());
  const trace::Recording recording = loaded();
  auto counts = name_counts(recording);
  EXPECT_EQ(counts["op"], kOps);
  EXPECT_EQ(counts["aclrtLaunchKernel"], kOps);
  EXPECT_EQ(counts["kernel"], kOps);
  EXPECT_EQ(recording.tracks.size(), 2u) << "the thread and the stream";
  trace::EventIndex op = 0;
  for (trace::EventIndex i = 0; i < recording.events.size(); ++i) {
    if (recording.name(i) == "outer") {
      EXPECT_EQ(recording.events.duration_ns[i], 100 * kOps);
    }
    if (recording.name(i) == "op") op = i;
    if (recording.name(i) != "aclrtLaunchKernel") continue;
    ASSERT_LE(recording.events.start_ns[op], recording.events.start_ns[i]);
    ASSERT_GE(recording.events.end_ns(op), recording.events.end_ns(i)) << "a call lies inside its op";
  }
}

TEST_F(SpilledDeviceRecordsTest, LaunchesAreMatchedAcrossTheirParts) {
  auto session = started(spilling());
  std::vector<DeviceRecord> held_back;
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    source_.launch("kernel", 100, 50, i);
    clock_.advance(1000);
    held_back.push_back(source_.batch_.records.back());  // the kernel comes with a later part
    source_.batch_.records.pop_back();
    if (i % 100 == 0) source_.hand_over();
  }
  held_back.resize(990);
  source_.batch_.records = held_back;
  const trace::Recording summary = stopped(*session);
  EXPECT_EQ(lost(summary, LossReason::kNoDeviceRecord), 10u);
  EXPECT_EQ(lost(summary, LossReason::kNoLaunch), 0u);
  EXPECT_EQ(name_counts(loaded())["kernel"], 990);
}

TEST_F(SpilledDeviceRecordsTest, AThreadThatASourceSawFirstIsOneTrack) {
  auto session = started(spilling());
  source_.launch("kernel", 100, 50, 1);
  source_.hand_over();
  scope("host");
  stopped(*session);
  const trace::Recording recording = loaded();
  ASSERT_EQ(recording.tracks.size(), 2u);
  EXPECT_EQ(recording.tracks[0].event_count, 2u);
  EXPECT_NE(recording.tracks[0].number, 0u);
}

TEST_F(SpilledDeviceRecordsTest, OtherPoliciesTakeNoRecordsEarly) {
  auto session = started(watched());
  EXPECT_FALSE(source_.write_records_);
  stopped(*session);
}

TEST_F(DeviceMappingTest, AClockWithoutSamplesIsAnErrorThatNamesIt) {
  TickMapping session_clock;
  EXPECT_THAT([&] { map_source_clock({"broken", false, 1.0, {}}, session_clock); }, ThrowsMessage<InvalidArgument>(HasSubstr("'broken'")));
}

}  // namespace
}  // namespace mindtorch::record
