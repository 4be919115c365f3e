// What can be recorded on this machine.
#include "mindtorch/profiler/status.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "mindtorch/profiler/profile.h"
#include "mindtorch/record/host.h"
#include "tests/profiler/fake_source.h"

namespace mindtorch::profiler {
namespace {

using ::testing::Contains;

class FakeHost : public record::Host {
 public:
  std::string_view name() const override { return "fake-host"; }
  Status session_starts(std::uint32_t) override { return Status::unavailable("asleep"); }
  void session_stops() override {}
};

TEST(ProfilerStatus, TheCpuIsAlwaysSupported) { EXPECT_EQ(supported_activities().front(), Activity::kCpu); }

TEST(ProfilerStatus, EverySourceIsAvailableOrSaysWhyNot) {
  const std::vector<Activity> supported = supported_activities();
  for (const SourceStatus& source : status().sources) {
    EXPECT_EQ(source.available, source.reason.empty());
    if (!source.available) continue;
    EXPECT_THAT(supported, Contains(source.activity));
  }
}

TEST(ProfilerStatus, SaysWhetherAnythingRecordsAndByWhichClock) {
  EXPECT_FALSE(status().recording);
  EXPECT_FALSE(status().clock.empty());
  Profile profile({.activities = {Activity::kCpu}});
  profile.start();
  EXPECT_TRUE(status().recording);
  profile.stop();
  EXPECT_FALSE(status().recording);
}

TEST(ProfilerStatus, HostsAreNamedAndOneThatCannotRecordIsAWarning) {
  FakeHost host;
  record::register_host(&host);
  EXPECT_THAT(status().hosts, Contains("fake-host"));
  Profile profile({.activities = {Activity::kCpu}});
  profile.start();
  EXPECT_THAT(profile.warnings(), Contains(Warning{WarningCategory::kUser, "host fake-host: asleep"}));
  profile.stop();
  record::unregister_host(&host);
  EXPECT_THAT(status().hosts, ::testing::Not(Contains("fake-host")));
}

TEST(ProfilerStatus, ASourceBelongsToTheActivityOfItsDevice) {
  EXPECT_EQ(activity_of(FakeSource("a", trace::DeviceType::kCuda)), Activity::kCuda);
  EXPECT_EQ(activity_of(FakeSource("b", trace::DeviceType::kNpu)), Activity::kNpu);
}

}  // namespace
}  // namespace mindtorch::profiler
