// FileBytes: what was read stays readable whatever happens to the file, and what cannot be read is refused with its reason.
#include "mindtorch/ingest/file_bytes.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "mindtorch/base/error.h"
#include "mindtorch/ingest/load_trace.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::ingest {
namespace {

using testing::HasSubstr;

class FileBytesTest : public testing::Test {
 protected:
  std::string make_file(const std::string& content) {
    std::ofstream(path_, std::ios::binary) << content;
    return path_;
  }

  tests::TemporaryFolder folder_;
  std::string path_ = folder_ / "file";
};

TEST_F(FileBytesTest, AFileThatIsCutAfterwardsIsStillThere) {
  const std::string content(std::size_t{5} << 20, 'x');
  const FileBytes file("test", make_file(content), {});
  ASSERT_EQ(::truncate(path_.c_str(), 0), 0);
  EXPECT_EQ(file.view(), content);
}

TEST_F(FileBytesTest, ALargeFileIsReadByThreadsInItsOrder) {
  std::string content(std::size_t{70} << 20, '\0');
  for (std::size_t at = 0; at < content.size(); at += 1000) content[at] = static_cast<char>(at / 1000 % 251 + 1);
  EXPECT_TRUE(FileBytes("test", make_file(content), {}).view() == content);
}

// Files of the kernel say that they are longer than what one can read of them, as does a file that is cut while it is read.
TEST_F(FileBytesTest, AFileThatEndsEarlierThanItsSizeIsReadUpToItsEnd) {
  const std::string path = "/sys/kernel/mm/transparent_hugepage/enabled";
  struct stat about {};
  std::string content;
  if (::stat(path.c_str(), &about) != 0 || !std::getline(std::ifstream(path), content) || about.st_size <= 64)
    GTEST_SKIP() << "no such file";
  EXPECT_EQ(FileBytes("test", path, {}).view(), content + "\n");
}

TEST_F(FileBytesTest, AnEmptyFileHasNoBytes) { EXPECT_TRUE(FileBytes("test", make_file(""), {}).view().empty()); }

TEST_F(FileBytesTest, WhatIsNoRegularFileIsRefused) {
  EXPECT_THROW(FileBytes("test", folder_ / "missing", {}), IoError);
  EXPECT_THROW(FileBytes("test", folder_.path().string(), {}), IoError);
  EXPECT_THROW(FileBytes("test", "/dev/zero", {}), InvalidArgument);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THROW(FileBytes("test", path_, {}), InvalidArgument);
  EXPECT_THROW(load_trace(path_), InvalidArgument);
}

TEST_F(FileBytesTest, MoreBytesThanMayBeTakenAreRefusedBeforeTheyAreRead) {
  try {
    FileBytes("test", make_file(std::string(5000, 'x')), {.max_memory = 4000});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("needs more than 4000 bytes of memory"));
  }
}

}  // namespace
}  // namespace mindtorch::ingest
