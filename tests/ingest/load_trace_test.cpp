// load_trace(): the content of a file, not its name, chooses the reader.
#include "mindtorch/ingest/load_trace.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "mindtorch/base/error.h"
#include "mindtorch/export/chrome/chrome_writer.h"
#include "mindtorch/export/output.h"
#include "mindtorch/trace/file.h"
#include "tests/support/same_recording.h"
#include "tests/support/sample_recordings.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::ingest {
namespace {

using tests::TemporaryFolder;

TEST(LoadTrace, RecordingsAndChromeTracesAreToldApartByTheirContent) {
  const TemporaryFolder folder;
  const trace::Recording recording = tests::large_recording(10);
  trace::save(recording, folder / "recording.json");
  exporter::write_chrome_trace(recording, folder / "trace.json");
  std::filesystem::rename(folder / "trace.json", folder / "trace.mtrec");

  const LoadedTrace saved = load_trace(folder / "recording.json");
  EXPECT_EQ(saved.format, "recording");
  EXPECT_EQ(saved.file_size, std::filesystem::file_size(folder / "recording.json"));
  EXPECT_FALSE(saved.damage);
  EXPECT_TRUE(saved.recording == recording);

  const LoadedTrace exported = load_trace(folder / "trace.mtrec");
  EXPECT_EQ(exported.format, "Chrome trace");
  EXPECT_FALSE(exported.damage);
  EXPECT_EQ(tests::first_difference(recording, exported.recording), "");
  EXPECT_GT(exported.skipped.at("metadata"), 0U);
}

TEST(LoadTrace, WhatIsNeitherIsRefusedByName) {
  const TemporaryFolder folder;
  exporter::write_output(folder / "notes.txt", "hello");
  try {
    load_trace(folder / "notes.txt");
    FAIL() << "no error";
  } catch (const InvalidArgument& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("notes.txt"));
  }
  EXPECT_THROW(load_trace(folder / "missing"), IoError);
}

}  // namespace
}  // namespace mindtorch::ingest
