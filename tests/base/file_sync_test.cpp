// A file survives a loss of power if the user asks: counts the calls of fsync that commit() makes.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "mindtorch/base/error.h"
#include "mindtorch/base/file.h"
#include "tests/support/temporary_folder.h"

namespace {

std::vector<mode_t> synced;  // the kinds of files that fsync was called for
int fail_with = 0;

}  // namespace

// Stands in front of the C library's, for every caller in this process.
extern "C" int fsync(int fd) {
  struct stat about {};
  ::fstat(fd, &about);
  synced.push_back(about.st_mode & S_IFMT);
  if (fail_with != 0) return errno = fail_with, -1;
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace mindtorch {
namespace {

using testing::ElementsAre;

class FileSyncTest : public testing::Test {
 protected:
  void SetUp() override { synced.clear(); }
  void TearDown() override {
    set_file_sync(false);
    fail_with = 0;
  }
  void export_to(const std::string& name) {
    AtomicFile file(folder_ / name);
    file.write("new");
    file.commit();
  }

  tests::TemporaryFolder folder_;
};

TEST_F(FileSyncTest, NothingIsSyncedUnlessAsked) {
  EXPECT_FALSE(file_sync());
  export_to("out");
  EXPECT_THAT(synced, ElementsAre());
}

TEST_F(FileSyncTest, TheFileIsSyncedBeforeItsNameAndThenTheFolder) {
  set_file_sync(true);
  export_to("out");
  EXPECT_THAT(synced, ElementsAre(S_IFREG, S_IFDIR));
}

TEST_F(FileSyncTest, ADiskThatDoesNotSyncIsAnErrorAndTheOldFileStays) {
  export_to("out");
  set_file_sync(true);
  fail_with = EIO;
  AtomicFile file(folder_ / "out");
  EXPECT_THROW(file.commit(), IoError);
  EXPECT_EQ(read_file(folder_ / "out"), "new");
  EXPECT_THAT(folder_.names(), ElementsAre("out"));
}

}  // namespace
}  // namespace mindtorch
