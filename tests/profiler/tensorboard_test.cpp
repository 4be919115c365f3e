// tensorboard_trace_handler(): names, directory, one file a cycle.
#include "mindtorch/profiler/tensorboard.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "mindtorch/base/file.h"
#include "mindtorch/base/text.h"
#include "tests/profiler/profile_fixture.h"
#include "tests/profiler/temporary_directory.h"

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
  const TemporaryDirectory directory_;
};

TEST_F(TensorboardTest, EachCycleIsAFileNamedAfterTheWorkerAndTheTime) {
  run(tensorboard_trace_handler(directory_.file("a/log"), "worker-3"), "SSS");
  const auto names = directory_.names("a/log");
  ASSERT_THAT(names, SizeIs(3));
  EXPECT_THAT(names, Each(MatchesRegex("worker-3\\.[0-9]{19}\\.pt\\.trace\\.json")));
  EXPECT_TRUE(is_json(read_file(directory_.file("a/log/" + names[0]))));
}

TEST_F(TensorboardTest, WithoutANameTheWorkerIsHostAndProcess) {
  run(tensorboard_trace_handler(directory_.file("log")), "S");
  EXPECT_THAT(directory_.names("log"), Each(MatchesRegex(fmt::format(".+_{}\\.[0-9]+\\.pt\\.trace\\.json", ::getpid()))));
}

TEST_F(TensorboardTest, FilesAreCompressedIfAskedFor) {
  run(tensorboard_trace_handler(directory_.file("log"), "w", true), "S");
  EXPECT_THAT(directory_.names("log"), Each(MatchesRegex("w\\.[0-9]+\\.pt\\.trace\\.json\\.gz")));
}

TEST_F(TensorboardTest, NothingIsMadeBeforeATraceIsReady) {
  run(tensorboard_trace_handler(directory_.file("log")), "NN");
  EXPECT_THAT(directory_.names(), SizeIs(0));
}

TEST_F(TensorboardTest, ADirectoryThatCannotBeMadeIsAnErrorWithTorchsWords) {
  AtomicFile in_the_way(directory_.file("file"));
  in_the_way.commit();
  EXPECT_THAT(error_of<Error>([&] { run(tensorboard_trace_handler(directory_.file("file/log")), "S"); }),
              HasSubstr("Can't create directory: " + directory_.file("file/log")));
}

}  // namespace
}  // namespace mindtorch::profiler
