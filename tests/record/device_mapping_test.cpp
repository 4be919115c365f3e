// Device records on the host's timeline: clocks, tracks, links and losses, through a source made by hand.
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

  std::string_view name() const override { return "fake"; }
  trace::DeviceType device_type() const override { return DeviceType::kNpu; }
  Status probe() override { return Status::ok(); }
  Status prepare(const SourceOptions&) override { return problem_.empty() ? Status::ok() : Status::unavailable(problem_); }
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

  DeviceBatch batch_;
  std::string problem_;
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

TEST_F(DeviceMappingTest, AClockWithoutSamplesIsAnErrorThatNamesIt) {
  TickMapping session_clock;
  EXPECT_THAT([&] { map_source_clock({"broken", false, 1.0, {}}, session_clock); }, ThrowsMessage<InvalidArgument>(HasSubstr("'broken'")));
}

}  // namespace
}  // namespace mindtorch::record
