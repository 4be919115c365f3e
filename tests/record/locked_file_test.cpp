// The spill file: whatever the program does with descriptors, bytes of the recording reach this file and no other.
#include "mindtorch/record/locked_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "mindtorch/base/error.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::record {
namespace {

class LockedFileTest : public testing::Test {
 protected:
  std::string path(const std::string& name = "spill") const { return folder_ / name; }
  std::string content(const std::string& name = "spill") const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void append(LockedFile& file, std::string_view bytes) {
    const auto written = file.append(bytes);
    ASSERT_EQ(written.error, 0);
    ASSERT_EQ(written.bytes, bytes.size());
  }
  // Runs `call` in a child, because it closes descriptors that this process needs.
  static int status_of_child(const std::function<bool()>& call) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(call() ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }

  tests::TemporaryFolder folder_;
};

TEST_F(LockedFileTest, AppendsAndCutsBack) {
  LockedFile file(path());
  append(file, "abc");
  append(file, "defg");
  EXPECT_EQ(file.cut(4), 0);
  append(file, "X");
  EXPECT_EQ(content(), "abcdX");
}

TEST_F(LockedFileTest, AProgramThatClosesAllDescriptorsAndReusesTheirNumbersKeepsItsFiles) {
  const int status = status_of_child([&] {
    LockedFile file(path());
    if (file.append(std::string_view("before ")).error != 0) return false;
    for (int fd = 3; fd < 200; ++fd) ::close(fd);
    const std::string mine = path("mine");
    int fds[100];
    for (int& fd : fds) {
      fd = ::open(mine.c_str(), O_RDWR | O_CREAT, 0666);
      if (fd < 0) return false;
    }
    if (file.append(std::string_view("after")).error != 0 || file.cut(8) != 0) return false;
    { const LockedFile another(path("another")); }
    for (const int fd : fds)
      if (::fcntl(fd, F_GETFD) != 0) return false;
    return std::filesystem::file_size(mine) == 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(content(), "before a");
}

TEST_F(LockedFileTest, AFileThatIsBeingWrittenIsRefusedAndKeepsItsContent) {
  LockedFile file(path());
  append(file, "abc");
  EXPECT_THAT([&] { LockedFile second(path()); }, testing::ThrowsMessage<IoError>(testing::HasSubstr("another recording is writing it")));
  EXPECT_EQ(content(), "abc");
}

TEST_F(LockedFileTest, TheLockEndsWithTheFileAlthoughAForkedChildLives) {
  pid_t child = 0;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  {
    LockedFile file(path());
    child = ::fork();
    if (child == 0) {
      char byte;
      ::close(ends[1]);
      static_cast<void>(::read(ends[0], &byte, 1));
      ::_exit(0);
    }
  }
  EXPECT_NO_THROW(LockedFile again(path()));
  ::close(ends[1]);
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
}

TEST_F(LockedFileTest, WhatIsNoRegularFileIsRefused) {
  EXPECT_THROW(LockedFile file("/dev/null"), IoError);
  EXPECT_THROW(LockedFile file(folder_ / ""), IoError);
}

}  // namespace
}  // namespace mindtorch::record
