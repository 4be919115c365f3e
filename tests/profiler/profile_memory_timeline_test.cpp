// Profile::export_memory_timeline: torch's files and torch's refusals.
#include <gmock/gmock.h>

#include "mindtorch/base/file.h"
#include "mindtorch/profiler/profile.h"
#include "mindtorch/record/hooks.h"
#include "tests/profiler/profile_fixture.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::profiler {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr record::Device kNpu{trace::DeviceType::kNpu, 0};

class MemoryTimelineTest : public ProfileTest {
 protected:
  static ProfileOptions options() {
    return {.activities = {Activity::kCpu}, .record_shapes = true, .profile_memory = true, .with_stack = true};
  }
  // A block of 4096 bytes on the device, and one of 64 on the CPU that is freed again.
  void record_blocks(record::Device device) {
    profile_.start();
    {
      record::OpScope scope(record::intern("aten::empty"));
      record::record_memory(device, &profile_, 4096, 4096, 8192);
      record::record_memory({}, &folder_, 64, 64, 64);
    }
    record::record_memory({}, &folder_, -64, 0, 64);
    profile_.stop();
  }
  std::string exported(std::optional<std::string_view> device = std::nullopt) {
    profile_.export_memory_timeline(folder_ / "m.json", device);
    return read_file(folder_ / "m.json");
  }

  const tests::TemporaryFolder folder_;
  Profile profile_{options()};
};

TEST_F(MemoryTimelineTest, TheOptionsThatAreMissingAreNamedAsTorchNamesThem) {
  EXPECT_EQ(error_of<InvalidArgument>([&] { make({})->export_memory_timeline("x.json"); }),
            "record_shapes=True, profile_memory=True, with_stack=True required for memory profiling.");
  EXPECT_EQ(error_of<InvalidArgument>([&] { make({.record_shapes = true, .with_stack = true})->export_memory_timeline("x.json"); }),
            "profile_memory=True required for memory profiling.");
}

TEST_F(MemoryTimelineTest, BeforeATraceHasEndedThereIsNothingToExport) {
  EXPECT_EQ(error_of<AssertionFailed>([&] { profile_.export_memory_timeline("x.json"); }),
            "Profiler and kineto_results must be initialized for memory profiling");
  profile_.start();
  EXPECT_THAT(error_of<Error>([&] { profile_.export_memory_timeline("x.json"); }), HasSubstr("the first trace has not ended yet"));
}

TEST_F(MemoryTimelineTest, TheSuffixChoosesTorchsForm) {
  record_blocks({});
  for (const char* name : {"m.html", "m.json", "m.json.gz", "m.raw.json.gz"}) profile_.export_memory_timeline(folder_ / name);
  EXPECT_THAT(folder_.names(), ElementsAre("m.html", "m.json", "m.json.gz", "m.raw.json.gz"));
  EXPECT_THAT(read_file(folder_ / "m.html"), StartsWith("<!doctype html>"));
  EXPECT_THAT(read_file(folder_ / "m.json"), StartsWith("[["));
  for (const char* name : {"m.json.gz", "m.raw.json.gz"}) EXPECT_THAT(read_file(folder_ / name), StartsWith("\x1f\x8b"));
}

TEST_F(MemoryTimelineTest, WithoutADeviceItIsTheAcceleratorThatReportedMemoryElseTheCpu) {
  record_blocks(kNpu);
  EXPECT_THAT(exported(), EndsWith("[0, 0, 0, 0, 0, 4096, 0, 0, 0]]]")) << "an activation that stays";
  EXPECT_EQ(exported("npu:0"), exported());
  EXPECT_EQ(exported("npu:1"), "[[], []]");
  EXPECT_THAT(exported("cpu"), EndsWith("[0, 0, 0, 0, 0, 0, 0, 0, 0]]]"));
}

TEST_F(MemoryTimelineTest, ABadDeviceOrPathIsAnErrorAndWritesNothing) {
  record_blocks({});
  EXPECT_THAT(error_of<InvalidArgument>([&] { exported("gpu"); }), HasSubstr("'gpu' is not a device"));
  EXPECT_THAT(error_of<IoError>([&] { profile_.export_memory_timeline(folder_ / "missing/m.json"); }), HasSubstr("missing/m.json"));
  EXPECT_TRUE(folder_.names().empty());
}

}  // namespace
}  // namespace mindtorch::profiler
