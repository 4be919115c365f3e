// The sources of a session that is read while it goes on.
#include "mindtorch/record/session_sources.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "tests/record/recorded.h"

namespace mindtorch::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using trace::LossReason;

constexpr std::int64_t kMegabyte = std::int64_t{1} << 20;

// A device that reports one kernel per launch, on the clock of the session.
class LaunchingSource : public ActivitySource {
 public:
  explicit LaunchingSource(FakeClock& clock) : clock_(clock) {}
  void launch(const std::string& name) {
    DeviceRecord record{.start = clock_.now(),
                        .end = clock_.now() + 1,
                        .correlation = ++last_correlation_,
                        .name = batch_.name_id("launch"),
                        .lane = ::gettid(),
                        .kind = trace::EventKind::kRuntime,
                        .launches = true};
    batch_.records.push_back(record);
    record.kind = trace::EventKind::kKernel;
    record.name = batch_.name_id(name);
    record.device = {DeviceType::kNpu, 0};
    record.lane = 7;
    record.launches = false;
    batch_.records.push_back(record);
    clock_.advance(2);
  }

  std::string_view name() const override { return "launching"; }
  trace::DeviceType device_type() const override { return DeviceType::kNpu; }
  Status probe() override { return Status::ok(); }
  Status prepare(const SourceOptions&) override { return fails_ ? Status::unavailable("the device is gone") : Status::ok(); }
  Status start() override {
    batch_ = {};
    batch_.clocks = {{"session", true, 1.0, {}}};
    batch_.devices = {{{DeviceType::kNpu, 0}, "npu", {}}};
    return Status::ok();
  }
  void toggle(bool) override {}
  DeviceBatch stop() override { return std::move(batch_); }

  bool fails_ = false;

 private:
  FakeClock& clock_;
  DeviceBatch batch_;
  std::uint64_t last_correlation_ = 0;
};

class SessionSourcesTest : public RecordedTest {};

TEST_F(SessionSourcesTest, WorkOfDevicesIsInEachSnapshot) {
  LaunchingSource source(clock_);
  auto session = started({.sources = {&source}});
  source.launch("gemm");
  EXPECT_THAT(event_names(snapshot_of(*session)), ElementsAre("launch", "gemm"));
  source.launch("relu");
  const trace::Recording second = snapshot_of(*session);
  EXPECT_EQ(name_counts(second), (std::map<std::string, int>{{"launch", 2}, {"gemm", 1}, {"relu", 1}}));
  EXPECT_EQ(second.devices.size(), 1u);
  source.launch("add");
  EXPECT_EQ(stopped(*session).events.size(), 6u);
}

TEST_F(SessionSourcesTest, WorkOfDevicesThatIsOlderThanTheWindowIsDroppedAndCounted) {
  LaunchingSource source(clock_);
  auto session = started({.budget = {.policy = Budget::Policy::kKeepLast, .bytes = 64 * kMegabyte, .keep_steps = 1}, .sources = {&source}});
  for (int step = 0; step < 6; ++step) {
    session->mark_step(step);
    source.launch("gemm");
    const trace::Recording recording = snapshot_of(*session);
    EXPECT_EQ(recording.events.size(), step == 0 ? 2u : 4u);
    EXPECT_EQ(recording.events.size() + lost(recording, LossReason::kOverwritten), 2u * static_cast<unsigned>(step + 1));
  }
}

TEST_F(SessionSourcesTest, ASourceThatCannotGoOnIsTold) {
  LaunchingSource source(clock_);
  auto session = started({.sources = {&source}});
  source.launch("gemm");
  source.fails_ = true;
  EXPECT_EQ(snapshot_of(*session).events.size(), 2u);
  EXPECT_THAT(session->source_problems(), ElementsAre(HasSubstr("the device is gone")));
  EXPECT_EQ(stopped(*session).events.size(), 2u);
}

}  // namespace
}  // namespace mindtorch::record
