// Memory timeline files: torch's shapes of data, and a page that holds its picture.
#include "mindtorch/export/html/memory_timeline_writer.h"

#include <gmock/gmock.h>

#include "mindtorch/base/file.h"
#include "mindtorch/base/text.h"
#include "mindtorch/trace/builder.h"
#include "tests/support/sample_recordings.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::exporter {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(MemoryTimelineWriter, TheSuffixChoosesTheForm) {
  const tests::TemporaryFolder folder;
  const trace::Recording recording = tests::full_recording();
  const analyze::Analysis analysis(recording);
  write_memory_timeline(analysis, {}, folder / "m.json");
  EXPECT_TRUE(is_json(read_file(folder / "m.json")));
  EXPECT_THAT(read_file(folder / "m.json"), testing::StartsWith("[[1794710745000"));
  write_memory_timeline(analysis, {}, folder / "m.html");
  EXPECT_THAT(read_file(folder / "m.html"), testing::StartsWith("<!doctype html>"));
  for (const char* name : {"m.json.gz", "m.raw.json.gz"}) {
    write_memory_timeline(analysis, {}, folder / name);
    EXPECT_THAT(read_file(folder / name), testing::StartsWith("\x1F\x8B"));
  }
}

TEST(MemoryTimelineWriter, ThePageNeedsNothingElseAndNamesItsPeak) {
  const trace::Recording recording = tests::full_recording();
  const analyze::Analysis analysis(recording);
  const std::string page = memory_timeline_page(analyze::memory_timeline(analysis, {}));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("http:")));
  EXPECT_THAT(page, Not(HasSubstr("https:")));
  EXPECT_THAT(page, HasSubstr("content=\"default-src 'none'; "));
  EXPECT_THAT(page, HasSubstr("peak 5.98 KiB"));
  EXPECT_THAT(page, HasSubstr(">Parameter<"));
  EXPECT_THAT(page, HasSubstr(">Activation<"));
  EXPECT_THAT(page, Not(HasSubstr(">Gradient<")));
}

// A block of 100 KiB that lives from 0 to `end_ns`.
analyze::MemoryTimeline block_until(std::int64_t end_ns) {
  trace::RecordingBuilder builder;
  const auto track = builder.add_thread(1);
  builder.add_memory(1000, track, {}, 0x1000, 100 << 10, 100 << 10, 0);
  builder.add_memory(1000 + end_ns, track, {}, 0x1000, -(100 << 10), 0, 0);
  const trace::Recording recording = builder.finish();
  return analyze::memory_timeline(analyze::Analysis(recording), {});
}

TEST(MemoryTimelineWriter, TicksAreRoundNumbers) {
  const std::string page = memory_timeline_page(block_until(335'416'000));
  for (const char* tick : {">0 ms<", ">50 ms<", ">300 ms<", ">0 KiB<", ">32 KiB<", ">96 KiB<"}) EXPECT_THAT(page, HasSubstr(tick));
  EXPECT_THAT(page, Not(HasSubstr(">350 ms<")));
  EXPECT_THAT(memory_timeline_page(block_until(4'200'000'000)), HasSubstr(">0.5 s<"));
  EXPECT_THAT(memory_timeline_page(block_until(7'000)), HasSubstr(">7 us<"));
}

TEST(MemoryTimelineWriter, StepsInThePictureAreMarked) {
  const analyze::MemoryTimeline timeline = block_until(1'000'000'000);
  const std::int64_t first = timeline.times_us[0];
  const StepMark marks[] = {{6, first - 1}, {7, first + 1000}, {8, first + 500'000}, {9, first + 500'001}, {10, first + 2'000'000}};
  const std::string page = memory_timeline_page(timeline, marks);
  EXPECT_THAT(page, HasSubstr(">step 7<"));
  EXPECT_THAT(page, HasSubstr("x1=\"500.0\" x2=\"500.0\""));
  EXPECT_THAT(page, HasSubstr(">step 8<"));
  for (const char* left_out : {">step 6<", ">step 9<", ">step 10<"}) EXPECT_THAT(page, Not(HasSubstr(left_out)));
}

TEST(MemoryTimelineWriter, StepsOfTheRecordingAreInTheFile) {
  const tests::TemporaryFolder folder;
  const trace::Recording recording = tests::full_recording();
  write_memory_timeline(analyze::Analysis(recording), {}, folder / "m.html");
  EXPECT_THAT(read_file(folder / "m.html"), HasSubstr("class=\"step\""));
}

TEST(MemoryTimelineWriter, AMillionChangesMakeASmallPageThatKeepsThePeak) {
  trace::RecordingBuilder builder;
  const auto track = builder.add_thread(1);
  for (int i = 0; i < 300000; ++i) {
    const bool peak = i == 123456;
    builder.add_memory(2000 * i, track, {}, 0x1000, peak ? 1 << 20 : 64, peak ? 1 << 20 : 64, 0);
    builder.add_memory(2000 * i + 1000, track, {}, 0x1000, peak ? -(1 << 20) : -64, 0, 0);
  }
  const trace::Recording recording = builder.finish();
  const std::string page = memory_timeline_page(analyze::memory_timeline(analyze::Analysis(recording), {}));
  EXPECT_LT(page.size(), 600000U);
  EXPECT_THAT(page, HasSubstr("1048576"));
  EXPECT_THAT(page, HasSubstr("peak 1.00 MiB"));
}

TEST(MemoryTimelineWriter, NothingRecordedStillGivesValidFiles) {
  const tests::TemporaryFolder folder;
  const trace::Recording recording = tests::cpu_recording();
  const analyze::Analysis analysis(recording);
  write_memory_timeline(analysis, {}, folder / "m.json");
  EXPECT_EQ(read_file(folder / "m.json"), "[[], []]");
  EXPECT_THAT(memory_timeline_page(analyze::memory_timeline(analysis, {})), HasSubstr("</html>"));
}

TEST(MemoryTimelineWriter, TheDeviceThatIsNotNamedIsTheFirstAccelerator) {
  trace::RecordingBuilder builder;
  const auto track = builder.add_thread(1);
  builder.add_memory(1, track, {}, 1, 1, 1, 0);
  EXPECT_EQ(default_memory_device(trace::Recording(builder.recording())), trace::Device{});
  builder.add_memory(2, track, {trace::DeviceType::kNpu, 1}, 1, 1, 1, 0);
  EXPECT_EQ(default_memory_device(builder.finish()), (trace::Device{trace::DeviceType::kNpu, 1}));
}

}  // namespace
}  // namespace mindtorch::exporter
