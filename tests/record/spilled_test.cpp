// Reading back a spill: a file that was cut, overwritten or replaced is never taken for what was recorded.
#include "mindtorch/record/spilled.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "mindtorch/base/error.h"
#include "mindtorch/ingest/recording_file.h"
#include "tests/record/recorded.h"

namespace mindtorch::record {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using trace::LossReason;

constexpr int kEvents = 50'000;

class SpilledTest : public RecordedTest {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / ("mindtorch_spilled_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name = "spill.mtrec") const { return folder_ / name; }
  SessionOptions spilling(const std::string& to) const {
    SessionOptions options;
    options.budget = {.policy = Budget::Policy::kSpill, .bytes = std::int64_t{2} << 20, .spill_path = to};
    return options;
  }
  // Records kEvents events of that name and returns what stop() returned.
  trace::Recording spilled(std::string_view name, const std::string& to) {
    auto session = started(spilling(to));
    for (int i = 0; i < kEvents; ++i) scope(name, 1);
    return session->stop();
  }

  std::filesystem::path folder_;
};

TEST_F(SpilledTest, AWholeFileIsReadWithoutLoss) {
  const trace::Recording summary = spilled("x", path());
  const trace::Recording recording = merge_spilled(summary, ingest::load_recording(path()), path());
  EXPECT_EQ(name_counts(recording)["x"], kEvents);
  EXPECT_EQ(recording.metadata, summary.metadata);
  EXPECT_TRUE(recording.losses.empty());
}

class CutFileTest : public SpilledTest, public testing::WithParamInterface<int> {};

TEST_P(CutFileTest, IsReadAsFarAsItGoesAndTheRestIsReportedAsLost) {
  const trace::Recording summary = spilled("x", path());
  const auto size = std::filesystem::file_size(path());
  std::filesystem::resize_file(path(), GetParam() == 100 ? size - 1 : size * static_cast<std::uintmax_t>(GetParam()) / 100);
  const trace::Recording recording = merge_spilled(summary, ingest::load_recording(path()), path());
  const std::uint64_t missing = static_cast<std::uint64_t>(kEvents) - static_cast<std::uint64_t>(name_counts(recording)["x"]);
  ASSERT_EQ(recording.losses.size(), 1u);
  EXPECT_EQ(recording.losses[0].reason, LossReason::kDamagedFile);
  EXPECT_EQ(recording.losses[0].count, missing);
  EXPECT_EQ(recording.losses[0].where, path());
  EXPECT_TRUE(missing > 0 || GetParam() > 50) << "behind the events are the steps, the summary and the mark of a whole file";
}
INSTANTIATE_TEST_SUITE_P(Percent, CutFileTest, testing::Values(10, 50, 90, 100));

TEST_F(SpilledTest, TwoSessionsWithOnePathDoNotAnswerWithEachOthersEvents) {
  const trace::Recording first = spilled("first", path());
  const trace::Recording second = spilled("second", path());
  EXPECT_THAT([&] { merge_spilled(first, ingest::load_recording(path()), path()); },
              ThrowsMessage<IoError>(HasSubstr(path() + "' no longer holds the events")));
  EXPECT_EQ(name_counts(merge_spilled(second, ingest::load_recording(path()), path()))["second"], kEvents);
}

TEST_F(SpilledTest, AnotherRecordingThatWasCutIsNotOursEither) {
  const trace::Recording first = spilled("first", path());
  spilled("second", path());
  std::filesystem::resize_file(path(), std::filesystem::file_size(path()) / 2);
  EXPECT_THAT([&] { merge_spilled(first, ingest::load_recording(path()), path()); },
              ThrowsMessage<IoError>(HasSubstr("no longer holds the events")));
}

TEST_F(SpilledTest, AFileThatAnotherRecordingWritesIsRefusedAndLeftAlone) {
  const trace::Recording summary = spilled("x", path());
  const int other = ::open(path().c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  EXPECT_THAT([&] { started(spilling(path())); }, ThrowsMessage<IoError>(HasSubstr("another recording is writing it")));
  ::close(other);
  EXPECT_EQ(name_counts(merge_spilled(summary, ingest::load_recording(path()), path()))["x"], kEvents);
}

TEST_F(SpilledTest, AForkedChildDoesNotKeepTheFileInUse) {
  auto session = started(spilling(path()));
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  session->stop();
  session.reset();
  EXPECT_NO_THROW(spilled("x", path()));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST_F(SpilledTest, OnlyRegularFilesAreSpilledToAndLinksAreFollowed) {
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_THROW(started(spilling(path("fifo"))), IoError);
  EXPECT_THROW(started(spilling("/dev/null")), IoError);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  std::filesystem::create_symlink(path("target"), path("link"));
  const trace::Recording summary = spilled("x", path("link"));
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(name_counts(merge_spilled(summary, ingest::load_recording(path("target")), path("target")))["x"], kEvents);
}

}  // namespace
}  // namespace mindtorch::record
