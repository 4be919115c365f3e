// Output: every byte arrives in order, compressed or not, and failures leave the old file alone.
#include "mindtorch/export/output.h"

#include <gmock/gmock.h>
#include <libdeflate.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "mindtorch/base/error.h"
#include "mindtorch/base/file.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::exporter {
namespace {

using tests::TemporaryFolder;

// All members of a gzip file, by a decompressor that knows nothing of how they were made.
std::string gunzip(const std::string& bytes, std::size_t* members = nullptr) {
  libdeflate_decompressor* decompressor = libdeflate_alloc_decompressor();
  std::string all, text(std::size_t{8} << 20, '\0');
  std::size_t at = 0, count = 0;
  for (; at < bytes.size(); ++count) {
    std::size_t in = 0, out = 0;
    const auto result =
        libdeflate_gzip_decompress_ex(decompressor, bytes.data() + at, bytes.size() - at, text.data(), text.size(), &in, &out);
    if (result != LIBDEFLATE_SUCCESS) {
      ADD_FAILURE() << "member " << count << " is damaged";
      break;
    }
    all.append(text, 0, out);
    at += in;
  }
  libdeflate_free_decompressor(decompressor);
  if (members != nullptr) *members = count;
  return all;
}

// Text that does not repeat within a block.
std::string numbered_lines(std::size_t lines) {
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) text += fmt::format("line {} {}\n", i, i * i);
  return text;
}

TEST(Output, BytesArriveInOrderHoweverTheyAreCut) {
  const TemporaryFolder folder;
  const std::string text = numbered_lines(100000);
  Output out(folder / "out");
  for (std::size_t at = 0, size = 1; at < text.size(); at += size, size = size % 9973 * 2 + 1)
    out.append(std::string_view(text).substr(at, size));
  EXPECT_EQ(out.size(), text.size());
  out.commit();
  EXPECT_EQ(read_file(folder / "out"), text);
}

TEST(Output, WhatIsWrittenIntoReservedRoomArrivesToo) {
  const TemporaryFolder folder;
  Output out(folder / "out");
  std::string expected;
  for (const std::size_t size : {10U, 5000U, 3000000U, 1U, 262144U}) {  // some larger than a block
    const std::string piece(size, static_cast<char>('a' + size % 26));
    char* room = out.reserve(size + 100);
    std::memcpy(room, piece.data(), size);
    out.advance(room + size);
    expected += piece;
  }
  out.commit();
  EXPECT_EQ(read_file(folder / "out"), expected);
}

TEST(Output, APathEndingInGzIsCompressedInMembersOfLimitedSize) {
  const TemporaryFolder folder;
  const std::string text = numbered_lines(200000);
  write_output(folder / "out.json.gz", text);
  const std::string bytes = read_file(folder / "out.json.gz");
  std::size_t members = 0;
  EXPECT_EQ(gunzip(bytes, &members), text);
  EXPECT_GT(members, 2U);
  EXPECT_LT(bytes.size(), text.size() / 2);
}

TEST(Output, AnEmptyGzFileIsValidGzip) {
  const TemporaryFolder folder;
  write_output(folder / "out.gz", "");
  const std::string bytes = read_file(folder / "out.gz");
  EXPECT_FALSE(bytes.empty());
  EXPECT_EQ(gunzip(bytes), "");
}

TEST(Output, WithoutCommitNothingAppearsAndTheOldFileStays) {
  const TemporaryFolder folder;
  write_output(folder / "out", "old");
  {
    Output out(folder / "out");
    out.append(numbered_lines(100000));  // enough for the second thread to be at work
  }
  EXPECT_EQ(read_file(folder / "out"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Output, AMissingFolderIsAnErrorThatNamesThePath) {
  const TemporaryFolder folder;
  try {
    Output out(folder / "missing/out.json");
    FAIL() << "no error";
  } catch (const IoError& error) {
    EXPECT_EQ(error.code(), ENOENT);
    EXPECT_THAT(error.what(), testing::HasSubstr(folder / "missing/out.json"));
  }
}

TEST(Output, AFullDiskIsReportedByALaterCallAndTheOldFileStays) {
  const TemporaryFolder folder;
  if (::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=1m") != 0) GTEST_SKIP() << "needs the right to mount";
  write_output(folder / "out", "old");
  const auto write_too_much = [&] {
    Output out(folder / "out");
    out.append(numbered_lines(500000));
    out.commit();
  };
  try {
    write_too_much();
    ADD_FAILURE() << "no error";
  } catch (const IoError& error) {
    EXPECT_EQ(error.code(), ENOSPC);
    EXPECT_EQ(error.path(), folder / "out");
  }
  EXPECT_EQ(read_file(folder / "out"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  write_output(folder / "out", "small enough");
  EXPECT_EQ(read_file(folder / "out"), "small enough");
  ::umount(folder.path().c_str());
}

}  // namespace
}  // namespace mindtorch::exporter
