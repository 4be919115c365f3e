// tensorboard_trace_handler(): names, directory, one file a cycle.
#include "mindtorch/profiler/tensorboard.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <set>
#include <string>

#include "mindtorch/base/file.h"
#include "mindtorch/base/text.h"
#include "tests/profiler/profile_fixture.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::profiler {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

class TensorboardTest : public ProfileTest {
 protected:
  void run(TraceReadyCallback on_trace_ready, const std::string& letters) {
    auto profile = make({.schedule = scripted(letters), .on_trace_ready = std::move(on_trace_ready)});
    profile->start();
    for (std::size_t i = 0; i < letters.size(); ++i) profile->step();
    profile->stop();
  }
  const tests::TemporaryFolder folder_;
};

TEST_F(TensorboardTest, EachCycleIsAFileNamedAfterTheWorkerAndTheTime) {
  run(tensorboard_trace_handler(folder_ / "a/log", "worker-3"), "SSS");
  const auto names = folder_.names("a/log");
  ASSERT_THAT(names, SizeIs(3));
  EXPECT_THAT(names, Each(MatchesRegex("worker-3\\.[0-9]{19}\\.pt\\.trace\\.json")));
  EXPECT_TRUE(is_json(read_file(folder_ / ("a/log/" + names[0]))));
}

TEST_F(TensorboardTest, WithoutANameTheWorkerIsHostAndProcess) {
  run(tensorboard_trace_handler(folder_ / "log"), "S");
  EXPECT_THAT(folder_.names("log"), Each(MatchesRegex(fmt::format(".+_{}\\.[0-9]+\\.pt\\.trace\\.json", ::getpid()))));
}

TEST_F(TensorboardTest, TheFilesOfALaunchedRankHaveItInTheirNames) {
  ::setenv("RANK", "3", 1);
  ::setenv("WORLD_SIZE", "8", 1);
  run(tensorboard_trace_handler(folder_ / "log"), "S");
  ::unsetenv("RANK");
  ::unsetenv("WORLD_SIZE");
  EXPECT_THAT(folder_.names("log"), Each(MatchesRegex(fmt::format(".+_{}_rank3\\.[0-9]+\\.pt\\.trace\\.json", ::getpid()))));
}

TEST_F(TensorboardTest, FilesAreCompressedIfAskedFor) {
  run(tensorboard_trace_handler(folder_ / "log", "w", true), "S");
  EXPECT_THAT(folder_.names("log"), Each(MatchesRegex("w\\.[0-9]+\\.pt\\.trace\\.json\\.gz")));
}

TEST_F(TensorboardTest, NoPathRepeatsHoweverFastTracesFollowEachOtherAndWhoeverWritesThem) {
  TraceFiles one(folder_ / "log", "w", false), other(folder_ / "log", "w", false);
  std::set<std::string> paths;
  for (int i = 0; i < 500; ++i) {
    paths.insert(one.next_path());
    paths.insert(other.next_path());
  }
  EXPECT_THAT(paths, SizeIs(1000));
}

TEST_F(TensorboardTest, NothingIsMadeBeforeATraceIsReady) {
  run(tensorboard_trace_handler(folder_ / "log"), "NN");
  EXPECT_THAT(folder_.names(), SizeIs(0));
}

TEST_F(TensorboardTest, ADirectoryThatCannotBeMadeIsAnErrorWithTorchsWords) {
  AtomicFile in_the_way(folder_ / "file");
  in_the_way.commit();
  EXPECT_THAT(error_of<Error>([&] { run(tensorboard_trace_handler(folder_ / "file/log"), "S"); }),
              HasSubstr("Can't create directory: " + folder_ / "file/log"));
}

}  // namespace
}  // namespace mindtorch::profiler
