// Exports write files and nothing else: what a path may stand for, and what of it is kept. Run as root, each case is tried as root and as
// another user where that makes a difference.
#include "mindtorch/base/file_target.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <filesystem>
#include <fstream>

#include "mindtorch/base/error.h"
#include "mindtorch/base/file.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr uid_t kNobody = 65534;

// Runs as an unprivileged user if the process is root's, until it goes out of scope.
class AsNobody {
 public:
  AsNobody() { was_root_ = ::geteuid() == 0 && ::setegid(kNobody) == 0 && ::seteuid(kNobody) == 0; }
  ~AsNobody() {
    if (was_root_ && (::seteuid(0) != 0 || ::setegid(0) != 0)) std::abort();
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;

 private:
  bool was_root_ = false;
};

class FileTargetTest : public testing::Test {
 protected:
  FileTargetTest() { fs::permissions(folder_.path(), fs::perms{0777}); }
  std::string path(const std::string& name) const { return folder_ / name; }
  static void put(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
  static void export_to(const std::string& path, const std::string& bytes = "new") {
    AtomicFile file(path);
    file.write(bytes);
    file.commit();
  }
  static struct stat about(const std::string& path) {
    struct stat about {};
    EXPECT_EQ(::lstat(path.c_str(), &about), 0) << path;
    return about;
  }
  // The error of writing to `path`, by both ways to open a file.
  static void expect_refused(const std::string& path, int code, const std::string& text) {
    for (const bool in_place : {false, true}) {
      try {
        if (in_place) ::close(open_regular_file(path));
        if (!in_place) export_to(path);
        ADD_FAILURE() << path << " was written";
      } catch (const IoError& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        EXPECT_THAT(error.what(), HasSubstr(text));
        EXPECT_EQ(error.path(), path);
      }
    }
  }

  tests::TemporaryFolder folder_;
};

TEST_F(FileTargetTest, AFifoIsRefusedAndStays) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0666), 0);
  expect_refused(path("fifo"), EINVAL, "it is a FIFO; only regular files");
  EXPECT_TRUE(S_ISFIFO(about(path("fifo")).st_mode));
  EXPECT_THAT(folder_.names(), ElementsAre("fifo"));
}

TEST_F(FileTargetTest, ASocketIsRefusedAndStays) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  expect_refused(path("socket"), EINVAL, "it is a socket");
  ::close(fd);
  EXPECT_TRUE(S_ISSOCK(about(path("socket")).st_mode));
}

TEST_F(FileTargetTest, ADeviceNodeOfItsOwnIsWrittenIntoAndStays) {
  if (::mknod(path("null").c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) GTEST_SKIP() << "may not make device nodes";
  const int probe = ::open(path("null").c_str(), O_WRONLY);
  if (probe < 0) GTEST_SKIP() << "may not open device nodes here";
  ::close(probe);
  export_to(path("null"));
  EXPECT_TRUE(S_ISCHR(about(path("null")).st_mode));
  EXPECT_THAT(folder_.names(), ElementsAre("null"));
}

TEST_F(FileTargetTest, TheNullDeviceTakesEverythingAndTheFullDeviceNothing) {
  const AsNobody nobody;  // who could not replace a device even if the code were wrong
  fs::create_symlink("/dev/null", path("link.json"));
  export_to("/dev/null");
  export_to(path("link.json"));
  EXPECT_TRUE(S_ISCHR(about("/dev/null").st_mode));
  EXPECT_TRUE(S_ISLNK(about(path("link.json")).st_mode));
  AtomicFile full("/dev/full");
  EXPECT_THROW(full.write("x"), IoError);
}

TEST_F(FileTargetTest, AFileThatMustGrowInPlaceIsNotADevice) {
  EXPECT_THROW(open_regular_file("/dev/null"), IoError);
  const int fd = open_regular_file(path("new"));
  EXPECT_EQ(::write(fd, "abc", 3), 3);
  ::close(fd);
  ::close(open_regular_file(path("new")));
  EXPECT_EQ(read_file(path("new")), "abc") << "opening alone must not lose what is there";
}

TEST_F(FileTargetTest, ASymbolicLinkStaysAndTheFileBehindItIsReplaced) {
  fs::create_directory(path("real"));
  put(path("real/file"), "old");
  fs::create_symlink("real/file", path("inner"));
  fs::create_symlink(path("inner"), path("outer"));
  export_to(path("outer"));
  EXPECT_EQ(read_file(path("real/file")), "new");
  EXPECT_EQ(fs::read_symlink(path("outer")), path("inner"));
  EXPECT_EQ(fs::read_symlink(path("inner")), "real/file");
  EXPECT_THAT(folder_.names("real"), ElementsAre("file"));
}

TEST_F(FileTargetTest, ASymbolicLinkToNothingCreatesTheFileItNames) {
  fs::create_directory(path("real"));
  fs::create_symlink("real/file", path("link"));
  export_to(path("link"));
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(read_file(path("real/file")), "new");
}

TEST_F(FileTargetTest, LinksInACircleAreRefused) {
  fs::create_symlink("b", path("a"));
  fs::create_symlink("a", path("b"));
  expect_refused(path("a"), ELOOP, "symbolic links");
}

TEST_F(FileTargetTest, TheLinkOfADescriptorWhoseFileWasDeletedIsRefused) {
  const int fd = ::open(path("gone").c_str(), O_WRONLY | O_CREAT, 0666);
  fs::remove(path("gone"));
  EXPECT_THROW(export_to("/proc/self/fd/" + std::to_string(fd)), IoError);
  ::close(fd);
  EXPECT_THAT(folder_.names(), ElementsAre());
}

TEST_F(FileTargetTest, TheModeOfAnExistingFileIsKeptAndANewFileFollowsTheUmask) {
  put(path("old"), "old");
  for (const mode_t mode : {mode_t{0600}, mode_t{0640}, mode_t{0666}, mode_t{0777}}) {
    ASSERT_EQ(::chmod(path("old").c_str(), mode), 0);
    export_to(path("old"));
    EXPECT_EQ(about(path("old")).st_mode & 07777, mode);
  }
  const mode_t umask = ::umask(027);
  export_to(path("fresh"));
  ::umask(umask);
  EXPECT_EQ(about(path("fresh")).st_mode & 07777, mode_t{0640});
}

TEST_F(FileTargetTest, RootKeepsTheOwnerOfAnExistingFile) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  put(path("old"), "old");
  ASSERT_EQ(::chown(path("old").c_str(), kNobody, 1234), 0);
  ASSERT_EQ(::chmod(path("old").c_str(), 0604), 0);
  export_to(path("old"));
  EXPECT_EQ(about(path("old")).st_uid, kNobody);
  EXPECT_EQ(about(path("old")).st_gid, gid_t{1234});
  EXPECT_EQ(about(path("old")).st_mode & 07777, mode_t{0604});
  EXPECT_EQ(read_file(path("old")), "new");
}

TEST_F(FileTargetTest, WhoCannotKeepTheOwnerIsToldAndTheOldFileStays) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs files of two users";
  put(path("old"), "old");
  ASSERT_EQ(::chmod(path("old").c_str(), 0666), 0);
  try {
    const AsNobody nobody;
    export_to(path("old"));
    ADD_FAILURE() << "the file of another user was replaced";
  } catch (const IoError& error) {
    EXPECT_EQ(error.code(), EPERM);
    EXPECT_THAT(error.what(), HasSubstr("cannot keep the owner of"));
  }
  EXPECT_EQ(read_file(path("old")), "old");
  EXPECT_THAT(folder_.names(), ElementsAre("old"));
}

TEST_F(FileTargetTest, AFileThatTheUserMayNotWriteIsNotReplaced) {
  const AsNobody nobody;
  put(path("old"), "old");
  ASSERT_EQ(::chmod(path("old").c_str(), 0444), 0);
  expect_refused(path("old"), EACCES, "Permission denied");
  EXPECT_EQ(read_file(path("old")), "old");
}

TEST_F(FileTargetTest, APathWithANulByteIsAnErrorEverywhere) {
  const std::string nul = path("cut") + std::string("\0.json", 6);
  EXPECT_THROW(export_to(nul), InvalidArgument);
  EXPECT_THROW(open_regular_file(nul), InvalidArgument);
  EXPECT_THROW(read_file(nul), InvalidArgument);
  EXPECT_THROW(make_directories(nul), InvalidArgument);
  EXPECT_THAT(folder_.names(), ElementsAre());
}

TEST_F(FileTargetTest, AnEmptyPathAndAPathThatEndsInASlashAreErrors) {
  expect_refused("", ENOENT, "No such file");
  expect_refused(path("new/"), EISDIR, "Is a directory");
}

TEST_F(FileTargetTest, ANameOf255BytesAndAPathOfNearly4096Work) {
  export_to(path(std::string(NAME_MAX, 'n')));
  EXPECT_EQ(read_file(path(std::string(NAME_MAX, 'n'))), "new");
  std::string deep = folder_.path();
  while (deep.size() < PATH_MAX - 260) deep += "/" + std::string(200, 'd');
  deep += "/" + std::string(PATH_MAX - 4 - deep.size(), 'd');
  make_directories(deep);
  export_to(deep + "/f");
  EXPECT_EQ(read_file(deep + "/f"), "new");
}

TEST_F(FileTargetTest, TheFileLandsWhereThePathLedWhenItWasOpened) {
  const fs::path before = fs::current_path();
  fs::create_directory(path("elsewhere"));
  fs::current_path(folder_.path());
  AtomicFile file("out");
  fs::current_path(path("elsewhere"));
  file.commit();
  fs::current_path(before);
  EXPECT_TRUE(fs::exists(path("out")));
  EXPECT_THAT(folder_.names("elsewhere"), ElementsAre());
}

TEST_F(FileTargetTest, AFifoThatAppearsBeforeTheCommitStays) {
  AtomicFile file(path("out"));
  ASSERT_EQ(::mkfifo(path("out").c_str(), 0666), 0);
  EXPECT_THROW(file.commit(), IoError);
  EXPECT_TRUE(S_ISFIFO(about(path("out")).st_mode));
  EXPECT_THAT(folder_.names(), ElementsAre("out"));
}

// Two children leave temporary files behind; with names from process id and counter, the second of the same id would have failed.
TEST_F(FileTargetTest, WhatAKilledProcessLeftBehindDoesNotStopTheNext) {
  for (int i = 0; i < 2; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const AtomicFile file(path("out"));
      ::_exit(0);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }
  EXPECT_EQ(folder_.names().size(), 2) << "each has its own temporary file";
  for (const std::string& name : folder_.names()) EXPECT_THAT(name, testing::MatchesRegex("\\.mindtorch-[0-9a-f]{16}\\.tmp"));
  export_to(path("out"));
  EXPECT_EQ(read_file(path("out")), "new");
}

}  // namespace
}  // namespace mindtorch
