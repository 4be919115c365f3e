// The suffix chooses the format; failures lose nothing.
#include "mindtorch/export/export_trace.h"

#include <gmock/gmock.h>
#include <sys/mount.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "mindtorch/base/error.h"
#include "mindtorch/base/file.h"
#include "mindtorch/base/text.h"
#include "mindtorch/ingest/recording_file.h"
#include "mindtorch/trace/file.h"
#include "tests/support/sample_recordings.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::exporter {
namespace {

using testing::HasSubstr;
using tests::TemporaryFolder;

// A file that takes all the room there is.
void fill_disk(const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  const std::string block(4096, 'x');
  while (file.write(block.data(), 4096) && file.flush()) {
  }
}

TEST(ExportTrace, TheSuffixChoosesTheFormat) {
  const TemporaryFolder folder;
  const trace::Recording recording = tests::full_recording();
  export_trace(recording, folder / "t.json");
  EXPECT_TRUE(is_json(read_file(folder / "t.json")));
  export_trace(recording, folder / "t.json.gz");
  EXPECT_THAT(read_file(folder / "t.json.gz"), testing::StartsWith("\x1F\x8B"));
  export_trace(recording, folder / "t.pftrace");
  EXPECT_THAT(read_file(folder / "t.pftrace"), testing::StartsWith("\x0A"));
}

TEST(ExportTrace, ARecordingComesBackByteForByteWhateverItsNames) {
  const TemporaryFolder folder;
  const trace::Recording hostile = tests::hostile_recording();
  export_trace(hostile, folder / "t.mtrec");
  EXPECT_TRUE(ingest::load_recording(folder / "t.mtrec").recording == hostile);
}

TEST(ExportTrace, AnUnknownSuffixIsRefusedWithTheListOfKnownOnes) {
  try {
    export_trace(tests::cpu_recording(), "/tmp/trace.docx");
    FAIL() << "no error";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), HasSubstr("trace.docx"));
    for (const TraceFormat& format : formats()) EXPECT_THAT(error.what(), HasSubstr(std::string(format.suffix)));
  }
}

TEST(ExportTrace, AFormatOfAnotherWriterIsListedAndChosenLikeOurs) {
  const trace::Recording recording = tests::cpu_recording();
  std::string written;
  add_format({".counted.test", "how many events"}, [](const analyze::Analysis&, const std::string&) { FAIL() << "was replaced"; });
  add_format({".counted.test", "how many events there are"}, [&](const analyze::Analysis& analysis, const std::string& path) {
    written = fmt::format("{} {}", path, analysis.recording().events.size());
  });
  export_trace(recording, "a.counted.test");
  EXPECT_EQ(written, fmt::format("a.counted.test {}", recording.events.size()));
  EXPECT_EQ(formats().back().what, "how many events there are");
  EXPECT_EQ(std::ranges::count(formats(), ".counted.test", &TraceFormat::suffix), 1);
  add_format({".counted.test", ""},
             [](const analyze::Analysis& analysis, const std::string& path) { trace::save(analysis.recording(), path); });
}

TEST(ExportTrace, AChromeTraceHasChromesFormatWhateverItsName) {
  const TemporaryFolder folder;
  const trace::Recording recording = tests::full_recording();
  export_chrome_trace(recording, folder / "trace");
  EXPECT_TRUE(is_json(read_file(folder / "trace")));
  export_chrome_trace(recording, folder / "t.pftrace");
  EXPECT_THAT(read_file(folder / "t.pftrace"), testing::StartsWith("\x0A"));
}

TEST(ExportTrace, EveryFormatReportsAFullDiskAndCanBeRepeated) {
  const TemporaryFolder folder;
  if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0) GTEST_SKIP() << "needs the right to mount";
  trace::Recording recording = tests::full_recording();
  recording.samples.push_back({.time_ns = 1, .duration_ns = 1, .track = 0, .stack = 0, .state = trace::ThreadState::kRunning});
  const trace::Recording before = recording;
  for (const TraceFormat& format : formats()) {
    SCOPED_TRACE(format.suffix);
    const std::string path = folder / ("t" + std::string(format.suffix));
    export_trace(tests::cpu_recording(), path);
    const std::string old = read_file(path);
    fill_disk(folder / "ballast");
    try {
      export_trace(recording, path);
      ADD_FAILURE() << "no error";
    } catch (const IoError& error) {
      EXPECT_EQ(error.code(), ENOSPC);
      EXPECT_EQ(error.path(), path);
    }
    EXPECT_TRUE(read_file(path) == old);
    std::filesystem::remove(folder / "ballast");
    export_trace(recording, path);
    EXPECT_FALSE(read_file(path) == old);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "a temporary file stayed";
    std::filesystem::remove(path);
  }
  EXPECT_TRUE(recording == before);
  ::umount(folder.path().c_str());
}

TEST(ExportTrace, ExportingTwiceGivesTheSameBytes) {
  const TemporaryFolder folder;
  const trace::Recording recording = tests::full_recording();
  for (const TraceFormat& format : formats()) {
    const std::string path = folder / ("t" + std::string(format.suffix));
    export_trace(recording, path);
    const std::string first = read_file(path);
    export_trace(recording, path);
    EXPECT_EQ(read_file(path), first) << format.suffix;
  }
}

}  // namespace
}  // namespace mindtorch::exporter
