// Profile with a device: the reference NPU, from the launch to the table.
#include <gmock/gmock.h>

#include <algorithm>

#include "mindtorch/profiler/profile.h"
#include "mindtorch/profiler/status.h"
#include "mindtorch/record/hooks.h"
#include "tests/profiler/names_of.h"
#include "tests/support/powered.h"

namespace mindtorch::profiler {
namespace {

namespace device = reference_device;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const trace::Device kNpu0{trace::DeviceType::kNpu, 0};

void add_on_npu(device::Stream* stream) {
  record::OpScope op(record::intern("add"), record::known(kNpu0));
  ASSERT_EQ(device::launch(stream, "add_kernel", device::nothing()), device::Result::kSuccess);
}

class ProfileNpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (is_supported()) GTEST_SKIP() << "another NPU is present, which would be watched instead of the reference device";
  }
  static bool is_supported() {
    const std::vector<Activity> supported = supported_activities();
    return std::find(supported.begin(), supported.end(), Activity::kNpu) != supported.end();
  }
};

TEST_F(ProfileNpuTest, IsSupportedWhileTheDeviceIsThereAndElseTheStatusSaysWhyNot) {
  const auto reference = [] {
    for (const SourceStatus& source : status().sources)
      if (source.name == "reference") return source;
    return SourceStatus{};
  };
  EXPECT_EQ(reference().activity, Activity::kNpu);
  EXPECT_FALSE(reference().available);
  EXPECT_THAT(reference().reason, HasSubstr("MINDTORCH_NPU=reference"));
  const device::Powered on;
  EXPECT_TRUE(is_supported());
  EXPECT_TRUE(reference().available);
  EXPECT_THAT(Profile().activities(), Contains(Activity::kNpu)) << "what is supported is what is recorded by default";
}

TEST_F(ProfileNpuTest, AskedForWithoutADeviceItIsAWarningAndTheHostIsRecorded) {
  Profile profile({.activities = {Activity::kCpu, Activity::kNpu}});
  profile.start();
  { record::OpScope op(record::intern("add")); }
  profile.stop();
  ASSERT_EQ(profile.warnings().size(), 1U);
  EXPECT_THAT(profile.warnings()[0].text, HasSubstr("NPU is not available, disabling NPU profiling"));
  EXPECT_THAT(names_of(*profile.recording()), ElementsAre("add"));
}

TEST_F(ProfileNpuTest, KernelsAreInTheTableUnderTheDevicesName) {
  const device::Powered on;
  device::Stream* const stream = device::new_stream();
  Profile profile({.activities = {Activity::kCpu, Activity::kNpu}});
  EXPECT_EQ(profile.use_device(), "npu");
  profile.start();
  for (int i = 0; i < 3; ++i) add_on_npu(stream);
  profile.stop();
  EXPECT_THAT(profile.warnings(), IsEmpty());
  EXPECT_THAT(names_of(*profile.recording()), Contains("add_kernel").Times(3));
  EXPECT_THAT(profile.key_averages().table({.sort_by = "self_device_time_total"}), HasSubstr("Self NPU"));
}

TEST_F(ProfileNpuTest, CanBeSwitchedOffAndOnWhileTheHostIsRecorded) {
  const device::Powered on;
  device::Stream* const stream = device::new_stream();
  Profile profile({.activities = {Activity::kCpu, Activity::kNpu}});
  profile.start();
  add_on_npu(stream);
  ASSERT_EQ(device::synchronize(stream), device::Result::kSuccess);
  profile.toggle_collection_dynamic(false, {Activity::kNpu});
  add_on_npu(stream);
  ASSERT_EQ(device::synchronize(stream), device::Result::kSuccess);
  profile.toggle_collection_dynamic(true, {Activity::kNpu});
  add_on_npu(stream);
  profile.stop();
  const std::vector<std::string> names = names_of(*profile.recording());
  EXPECT_THAT(names, Contains("add").Times(3));
  EXPECT_THAT(names, Contains("add_kernel").Times(2));
}

TEST_F(ProfileNpuTest, AloneItIsRecordedWithoutTheHost) {
  const device::Powered on;
  Profile profile({.activities = {Activity::kNpu}});
  profile.start();
  add_on_npu(device::new_stream());
  profile.stop();
  const std::vector<std::string> names = names_of(*profile.recording());
  EXPECT_THAT(names, Contains("add_kernel"));
  EXPECT_THAT(names, Not(Contains("add")));
}

TEST_F(ProfileNpuTest, EachCycleHasItsOwnKernels) {
  const device::Powered on;
  device::Stream* const stream = device::new_stream();
  std::vector<long> kernels;
  Profile profile({.activities = {Activity::kCpu, Activity::kNpu},
                   .schedule = schedule({.wait = 1, .warmup = 1, .active = 2, .repeat = 2}),
                   .on_trace_ready = [&](Profile& p) {
                     const std::vector<std::string> names = names_of(*p.recording());
                     kernels.push_back(std::count(names.begin(), names.end(), "add_kernel"));
                     EXPECT_THAT(p.losses(), IsEmpty());
                   }});
  profile.start();
  for (int step = 0; step < 10; ++step) {
    add_on_npu(stream);
    ASSERT_EQ(device::synchronize(stream), device::Result::kSuccess);
    profile.step();
  }
  profile.stop();
  EXPECT_THAT(kernels, ElementsAre(2, 2));
}

}  // namespace
}  // namespace mindtorch::profiler
