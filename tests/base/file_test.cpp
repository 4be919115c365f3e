// Files appear whole or not at all, whatever goes wrong on the way; errors name path and cause.
#include "mindtorch/base/file.h"

#include <gmock/gmock.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "mindtorch/base/error.h"

namespace mindtorch {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "mindtorch_file_test.XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }
  static void put(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }
  static std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
    return names;
  }

  fs::path folder_;
};

// The IoError that `call` throws.
template <class Call>
IoError error_of(Call call) {
  try {
    call();
  } catch (const IoError& error) {
    return error;
  }
  return IoError(0, "", "no IoError was thrown");
}

TEST_F(FileTest, ACommittedFileHoldsEveryByteAndNoTemporaryStays) {
  const std::string bytes("a\0b\xFF\n", 5);
  AtomicFile file(path("out"));
  file.write(bytes);
  file.write(bytes.data(), 2);
  file.commit();
  EXPECT_EQ(read_file(path("out")), bytes + bytes.substr(0, 2));
  EXPECT_THAT(names_in(folder_), ElementsAre("out"));
}

TEST_F(FileTest, AFileWithoutContentIsCreatedEmpty) {
  AtomicFile file(path("out"));
  file.write("");
  file.commit();
  EXPECT_EQ(read_file(path("out")), "");
}

TEST_F(FileTest, NothingIsVisibleUnderTheNameBeforeCommit) {
  AtomicFile file(path("out"));
  file.write("half");
  EXPECT_FALSE(fs::exists(path("out")));
  file.commit();
  EXPECT_TRUE(fs::exists(path("out")));
}

TEST_F(FileTest, WithoutCommitTheOldFileIsUntouchedAndTheTemporaryIsRemoved) {
  put(path("out"), "old");
  {
    AtomicFile file(path("out"));
    file.write("new");
  }
  EXPECT_EQ(read_file(path("out")), "old");
  EXPECT_THAT(names_in(folder_), ElementsAre("out"));
}

TEST_F(FileTest, CommitReplacesTheOldFile) {
  put(path("out"), "an older and longer text");
  AtomicFile file(path("out"));
  file.write("new");
  file.commit();
  EXPECT_EQ(read_file(path("out")), "new");
}

TEST_F(FileTest, TwoWritersOfOnePathDoNotMix) {
  AtomicFile first(path("out"));
  AtomicFile second(path("out"));
  first.write("first");
  second.write("second");
  second.commit();
  first.commit();
  EXPECT_EQ(read_file(path("out")), "first");
  EXPECT_THAT(names_in(folder_), ElementsAre("out"));
}

TEST_F(FileTest, AMissingFolderIsAnErrorWithThePath) {
  const IoError error = error_of([&] { AtomicFile file(path("missing/out")); });
  EXPECT_EQ(error.code(), ENOENT);
  EXPECT_EQ(error.path(), path("missing/out"));
  EXPECT_THAT(error.what(), HasSubstr(path("missing/out") + "': No such file or directory"));
}

TEST_F(FileTest, AFolderCannotBeWrittenAsAFile) {
  fs::create_directory(path("folder"));
  EXPECT_EQ(error_of([&] { AtomicFile file(path("folder")); }).code(), EISDIR);
  EXPECT_THAT(names_in(folder_), ElementsAre("folder"));
}

TEST_F(FileTest, ATargetThatBecomesAFolderBeforeCommitIsAnErrorAndLeavesNoTemporary) {
  AtomicFile file(path("out"));
  file.write("new");
  fs::create_directories(path("out/inner"));
  EXPECT_EQ(error_of([&] { file.commit(); }).code(), EISDIR);
  EXPECT_THAT(names_in(folder_), ElementsAre("out"));
}

TEST_F(FileTest, AnUnwritableFolderIsAnErrorAndTheOldFileStays) {
  put(path("out"), "old");
  fs::permissions(folder_, fs::perms{0555});
  const bool is_root = ::geteuid() == 0;  // root may write everywhere: be nobody for a moment
  ASSERT_EQ(::seteuid(is_root ? 65534 : ::geteuid()), 0);
  const IoError error = error_of([&] { AtomicFile file(path("out")); });
  ASSERT_EQ(::seteuid(is_root ? 0 : ::geteuid()), 0);
  fs::permissions(folder_, fs::perms{0700});
  EXPECT_EQ(error.code(), EACCES);
  EXPECT_EQ(read_file(path("out")), "old");
  EXPECT_THAT(names_in(folder_), ElementsAre("out"));
}

TEST_F(FileTest, AFolderOfTheKernelThatTakesNoFilesIsAnError) {
  const IoError error = error_of([] { AtomicFile file("/proc/mindtorch_out"); });
  EXPECT_NE(error.code(), 0);
  EXPECT_EQ(error.path(), "/proc/mindtorch_out");
}

TEST_F(FileTest, AFullDiskIsAnErrorThatLeavesTheOldFileAndNoTemporary) {
  if (::mount("mindtorch_test", folder_.c_str(), "tmpfs", 0, "size=64k") != 0) GTEST_SKIP() << "may not mount a small file system";
  put(path("out"), "old");
  const IoError error = error_of([&] {
    AtomicFile file(path("out"));
    file.write(std::string(std::size_t{1} << 20, 'x'));
    file.commit();
  });
  const std::vector<std::string> names = names_in(folder_);
  const std::string content = read_file(path("out"));
  ASSERT_EQ(::umount(folder_.c_str()), 0);
  EXPECT_EQ(error.code(), ENOSPC);
  EXPECT_THAT(error.what(), HasSubstr("No space left on device"));
  EXPECT_EQ(content, "old");
  EXPECT_THAT(names, ElementsAre("out"));
}

TEST_F(FileTest, ThreadsThatWriteManyFilesAtOnceDoNotDisturbEachOther) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        AtomicFile file(path(std::to_string(t)));
        file.write(std::to_string(i));
        file.commit();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(names_in(folder_), UnorderedElementsAre("0", "1", "2", "3"));
  for (int t = 0; t < 4; ++t) EXPECT_EQ(read_file(path(std::to_string(t))), "49");
}

TEST_F(FileTest, AFileLargerThanOneReadIsReadWhole) {
  std::string bytes((std::size_t{3} << 20) + 17, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 131 >> 3);
  put(path("large"), bytes);
  EXPECT_TRUE(read_file(path("large")) == bytes);
}

TEST_F(FileTest, AFileThatDoesNotTellItsSizeIsReadWhole) { EXPECT_THAT(read_file("/proc/self/status"), HasSubstr("Pid:")); }

TEST_F(FileTest, ReadingWhatIsNotThereOrNotAFileIsAnErrorWithThePath) {
  const IoError missing = error_of([&] { read_file(path("missing")); });
  EXPECT_EQ(missing.code(), ENOENT);
  EXPECT_THAT(missing.what(), HasSubstr("[file.read] cannot read '" + path("missing") + "'"));
  EXPECT_EQ(error_of([&] { read_file(folder_); }).code(), EISDIR);
}

TEST_F(FileTest, FoldersAreMadeWithTheirParentsAndMayExist) {
  make_directories(path("a/b/c"));
  make_directories(path("a/b/c"));
  EXPECT_TRUE(fs::is_directory(path("a/b/c")));
}

TEST_F(FileTest, AFolderBelowAFileIsAnErrorWithThePath) {
  put(path("file"), "");
  const IoError error = error_of([&] { make_directories(path("file/below")); });
  EXPECT_EQ(error.code(), ENOTDIR);
  EXPECT_THAT(error.what(), HasSubstr(path("file/below")));
}

}  // namespace
}  // namespace mindtorch
