// The spill: everything recorded is in the file, in bounded memory, up to the moment the process is killed.
#include "mindtorch/record/spill.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "mindtorch/ingest/recording_file.h"
#include "mindtorch/record/input_writer.h"
#include "mindtorch/record/log_storage.h"
#include "mindtorch/trace/inputs.h"
#include "mindtorch/trace/invariants.h"
#include "tests/record/recorded.h"
#include "tests/support/rounds.h"

namespace mindtorch::record {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using trace::LossReason;

constexpr std::int64_t kMegabyte = std::int64_t{1} << 20;

class SpillTest : public RecordedTest {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("mindtorch_spill_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name = "spill.mtrec") const { return folder_ / name; }
  SessionOptions spilling(std::int64_t bytes = 2 * kMegabyte) const {
    SessionOptions options;
    options.budget = {.policy = Budget::Policy::kSpill, .bytes = bytes, .spill_path = path()};
    return options;
  }
  trace::Recording loaded() {
    trace::LoadResult result = ingest::load_recording(path());
    EXPECT_EQ(result.damage, std::nullopt);
    EXPECT_EQ(trace::check_invariants(result.recording), "");
    return std::move(result.recording);
  }

  std::filesystem::path folder_;
};

TEST_F(SpillTest, TheFileHoldsEveryEventWithItsSideData) {
  SessionOptions options = spilling();
  options.shapes = options.memory = true;
  auto session = started(options);
  constexpr int kEvents = 20'000;
  const std::int64_t sizes[] = {3, 5};
  for (int i = 0; i < kEvents; ++i) {
    if (i % 1000 == 0) session->mark_step(i / 1000);
    OpScope op(intern(i % 2 ? "odd" : "even"), known({DeviceType::kNpu, 0}), trace::make_sequence_link(i));
    {
      InputWriter inputs(op);
      inputs.tensor(trace::ScalarType::kFloat, sizes, sizes, 2, true);
      inputs.text(i % 3 ? "sum" : "mean");
    }
    add_attribute(op.slot(), intern("i"), std::int64_t{i});
    record_memory({}, &op, i, i, i);
    clock_.advance(7);
  }
  const trace::Recording summary = session->stop();
  EXPECT_EQ(summary.events.size(), 0u);
  EXPECT_EQ(summary.metadata.at("spill_file"), "\"" + path() + "\"");
  const trace::Recording recording = loaded();
  ASSERT_EQ(recording.events.size(), static_cast<std::size_t>(kEvents));
  for (trace::EventIndex i = 0; i < kEvents; ++i) {
    ASSERT_EQ(recording.name(i), i % 2 ? "odd" : "even");
    ASSERT_EQ(recording.events.duration_ns[i], 7);
    ASSERT_EQ(trace::sequence_of(recording.events.link[i]), i);
    const auto inputs = trace::decode_inputs(recording.inputs.find(i));
    ASSERT_EQ(recording.names[inputs.at(1).text], i % 3 ? "sum" : "mean");
    ASSERT_EQ(recording.attributes.find(i)[0].bits, i);
    ASSERT_EQ(recording.memory.bytes[i], i);
  }
  EXPECT_EQ(recording.steps.size(), 20u);
  EXPECT_EQ(recording.step_at(recording.events.start_ns[5500]), 5);
  EXPECT_TRUE(recording.losses.empty());
  EXPECT_TRUE(recording.options.shapes);
}

TEST_F(SpillTest, ScopesThatSpanManySegmentsGetTheirEndsLater) {
  auto session = started(spilling());
  {
    NamedScope epoch("epoch");
    for (int batch = 0; batch < 5; ++batch) {
      NamedScope it("batch");
      for (int i = 0; i < 10'000; ++i) scope("work", 1);
    }
    std::thread([&, elsewhere = NamedScope("async")]() mutable {
      clock_.advance(100);
      elsewhere.close();
    }).join();
  }
  NamedScope open("open at stop");
  for (int i = 0; i < 10'000; ++i) scope("tail", 1);
  const trace::Recording summary = session->stop();
  EXPECT_EQ(lost(summary, LossReason::kUnfinished), 1u);
  session.reset();
  open.close();  // into memory that must still be there
  const trace::Recording recording = loaded();
  ASSERT_EQ(recording.name(0), "epoch");
  EXPECT_EQ(recording.events.duration_ns[0], 50'100);
  for (trace::EventIndex i = 0; i < recording.events.size(); ++i) {
    if (recording.name(i) == "batch") {
      EXPECT_EQ(recording.events.duration_ns[i], 10'000);
    } else if (recording.name(i) == "async") {
      EXPECT_EQ(recording.events.flags[i], trace::kAsync);
      EXPECT_EQ(recording.events.duration_ns[i], 100);
    } else if (recording.name(i) == "open at stop") {
      EXPECT_EQ(recording.events.flags[i], trace::kUnfinished);
    }
  }
  EXPECT_EQ(lost(recording, LossReason::kUnfinished), 1u);
}

TEST_F(SpillTest, ManyThreadsShareOneFile) {
  auto session = started(spilling());
  constexpr int kThreads = 4, kEvents = 50'000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < kEvents; ++i) NamedScope it("work");
    });
  for (std::thread& thread : threads) thread.join();
  session->stop();
  const trace::Recording recording = loaded();
  EXPECT_EQ(recording.tracks.size(), static_cast<std::size_t>(kThreads));
  EXPECT_EQ(name_counts(recording)["work"], kThreads * kEvents);
}

TEST_F(SpillTest, MemoryStaysWithinTheBudgetAndWaitingIsRecorded) {
  SessionOptions options = spilling(kMegabyte);
  auto session = Session::prepare(options);
  session->start();
  constexpr int kEvents = 2'000'000;
  std::int64_t most = 0;
  for (int i = 0; i < kEvents; ++i) {
    OpScope op(intern_cached("x"));
    if (i % 1024 == 0) most = std::max(most, session->bytes_in_use());
  }
  const trace::Recording summary = session->stop();
  EXPECT_LE(most, kMegabyte + static_cast<std::int64_t>(kBlockBytes));
  EXPECT_TRUE(summary.losses.empty());
  auto counts = name_counts(loaded());
  EXPECT_EQ(counts["x"], kEvents);
}

TEST_F(SpillTest, AThreadThatReportsMemoryAloneStaysWithinTheBudget) {
  SessionOptions options = spilling();
  options.memory = true;
  auto session = started(options);
  constexpr std::int64_t kReports = 300'000;
  std::int64_t most = 0;
  for (std::int64_t i = 1; i <= kReports; ++i) {
    record_memory({}, this, i, 0, 0);
    clock_.advance(1);
    if (i % 1000 == 0) most = std::max(most, session->bytes_in_use());
  }
  EXPECT_LE(most, 2 * kMegabyte);
  const trace::Recording summary = stopped(*session);
  EXPECT_EQ(lost(summary, LossReason::kSideData), 0u);
  const trace::Recording recording = ingest::load_recording(path(), {.max_memory = ingest::kUnlimitedMemory}).recording;
  ASSERT_EQ(recording.memory.size(), static_cast<std::size_t>(kReports));
  EXPECT_EQ(recording.memory.bytes.front(), 1);
  EXPECT_EQ(recording.memory.bytes.back(), kReports);
}

TEST_F(SpillTest, AFileThatCannotBeWrittenIsAnErrorWithPathAndCause) {
  SessionOptions options = spilling();
  options.budget.spill_path = path("no/such/folder/x.mtrec");
  EXPECT_THAT([&] { started(options); }, ThrowsMessage<IoError>(HasSubstr("no/such/folder/x.mtrec': No such file or directory")));
  EXPECT_NO_THROW(started()->stop());
}

TEST_F(SpillTest, WhenTheDiskIsFullTheEventsAreCountedAndTheFileStaysReadable) {
  // A limit on the size of files stands in for a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old{};
  ::getrlimit(RLIMIT_FSIZE, &old);
  const rlimit small{100'000, old.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  auto session = Session::prepare(spilling());
  session->start();
  constexpr int kEvents = 1'000'000;
  for (int i = 0; i < kEvents; ++i) OpScope op(intern_cached("x"));
  const trace::Recording summary = session->stop();
  ::setrlimit(RLIMIT_FSIZE, &old);
  ASSERT_EQ(summary.losses.size(), 1u);
  EXPECT_EQ(summary.losses[0].reason, LossReason::kSpillFailed);
  EXPECT_THAT(summary.losses[0].detail, HasSubstr(path()));
  const trace::LoadResult result = ingest::load_recording(path());
  EXPECT_GT(result.recording.events.size(), 0u);
  const std::size_t accounted = result.recording.events.size() + summary.losses[0].count;
  EXPECT_GE(accounted, static_cast<std::size_t>(kEvents));
  EXPECT_LE(accounted, static_cast<std::size_t>(kEvents + kEvents / kSlotsPerSegment + 1))
      << "no more than a wait for the disk in each segment";
}

TEST_F(SpillTest, WhatIsBeingRecordedIsInTheFileAfterAFlush) {
  SessionOptions options = spilling();
  options.shapes = options.memory = true;
  auto session = started(options);
  session->mark_step(3);
  std::optional<OpScope> outer(std::in_place, intern("outer"), known({DeviceType::kNpu, 0}));
  scope("first", 5);
  record_memory({}, this, 64, 64, 64);
  ASSERT_TRUE(flush_recording(std::chrono::minutes(1)));
  {
    const trace::LoadResult killed = ingest::load_recording(path());  // as if the process had been killed now
    EXPECT_THAT(event_names(killed.recording), testing::ElementsAre("outer", "first"));
    EXPECT_EQ(killed.recording.events.flags[0] & trace::kUnfinished, trace::kUnfinished);
    EXPECT_EQ(killed.recording.events.duration_ns[1], 5);
    EXPECT_EQ(killed.recording.memory.size(), 1u);
    ASSERT_EQ(killed.recording.steps.size(), 1u);
    EXPECT_EQ(killed.recording.steps[0].step, 3);
    EXPECT_TRUE(killed.recording.options.shapes);
  }
  // Everything that may happen to a scope that the file already has.
  add_attribute(outer->slot(), intern("late"), std::int64_t{7});
  outer->set_link(99);
  scope("second", 5);
  ASSERT_TRUE(flush_recording(std::chrono::minutes(1)));
  add_attribute(outer->slot(), intern("later"), std::int64_t{8});
  outer.reset();
  scope("third", 5);
  session->mark_step(4);
  EXPECT_TRUE(stopped(*session).losses.empty());
  const trace::Recording recording = loaded();
  EXPECT_THAT(event_names(recording), testing::ElementsAre("outer", "first", "second", "third"));
  EXPECT_EQ(recording.events.duration_ns[0], 10);
  EXPECT_EQ(recording.events.link[0], 99u);
  EXPECT_EQ(recording.events.flags[0] & trace::kUnfinished, 0);
  ASSERT_EQ(recording.attributes.find(0).size(), 2u);
  EXPECT_EQ(recording.attributes.find(0)[0].bits, 7);
  EXPECT_EQ(recording.attributes.find(0)[1].bits, 8);
  EXPECT_EQ(recording.memory.size(), 1u);
  EXPECT_EQ(recording.steps.size(), 2u);
}

// Flushes come at any moment, from another thread: the file is the same as without them.
TEST_F(SpillTest, FlushesAtAnyMomentChangeNothing) {
  for (int round = 0; round < tests::rounds(20); ++round) {
    SessionOptions options = spilling();
    options.shapes = true;
    auto session = started(options);
    std::atomic<bool> done{false};
    std::thread flusher([&] {
      while (!done.load()) EXPECT_TRUE(flush_recording(std::chrono::minutes(1)));
    });
    constexpr int kOuter = 30, kInner = 50;  // in one segment
    const std::int64_t sizes[] = {3, 5};
    for (int i = 0; i < kOuter; ++i) {
      OpScope outer(intern("outer"), {}, trace::make_sequence_link(i));
      for (int k = 0; k < kInner; ++k) {
        OpScope inner(intern("inner"));
        {
          InputWriter inputs(inner);
          inputs.tensor(trace::ScalarType::kFloat, sizes, sizes, 2, true);
        }
        clock_.advance(1);
      }
      add_attribute(outer.slot(), intern("i"), std::int64_t{i});
      outer.set_link(trace::make_sequence_link(1000 + i));
      clock_.advance(1);
    }
    done.store(true);
    flusher.join();
    EXPECT_TRUE(stopped(*session).losses.empty());
    const trace::Recording recording = loaded();
    auto counts = name_counts(recording);
    EXPECT_EQ(counts["outer"], kOuter);
    EXPECT_EQ(counts["inner"], kOuter * kInner);
    int outer = 0;
    for (trace::EventIndex i = 0; i < recording.events.size(); ++i) {
      if (recording.name(i) == "inner") {
        ASSERT_FALSE(recording.inputs.find(i).empty());
        ASSERT_EQ(recording.events.duration_ns[i], 1);
        continue;
      }
      ASSERT_EQ(recording.events.duration_ns[i], kInner + 1);
      ASSERT_EQ(recording.attributes.find(i).size(), 1u);
      ASSERT_EQ(recording.attributes.find(i)[0].bits, outer);
      ASSERT_EQ(trace::sequence_of(recording.events.link[i]), 1000 + outer);
      ++outer;
    }
  }
}

TEST_F(SpillTest, ThreadsThatHaveEndedGiveTheirMemoryBack) {
  constexpr int kThreads = 2000;
  auto session = started(spilling(kMegabyte));
  std::int64_t most = 0;
  for (int i = 0; i < kThreads; ++i) {
    std::thread([] { NamedScope it("request"); }).join();
    most = std::max(most, session->bytes_in_use());
  }
  EXPECT_LE(most, kMegabyte + static_cast<std::int64_t>(kBlockBytes));
  EXPECT_TRUE(stopped(*session).losses.empty());
  const trace::Recording recording = loaded();
  EXPECT_EQ(name_counts(recording)["request"], kThreads);  // beside waits for the file
  EXPECT_EQ(recording.tracks.size(), static_cast<std::size_t>(kThreads));
}

TEST_F(SpillTest, AProgramThatClosesAllDescriptorsKeepsItsFilesAndTheRecordingIsWhole) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto session = Session::prepare(spilling());
    session->start();
    for (int fd = 3; fd < 100; ++fd) ::close(fd);
    std::ofstream(path("mine")) << "0123456789";
    int mine[60];
    for (int& fd : mine) fd = ::open(path("mine").c_str(), O_RDWR);
    for (int i = 0; i < 100'000; ++i) NamedScope it("work");
    const bool ok = session->stop().losses.empty();
    for (const int fd : mine)
      if (::fcntl(fd, F_GETFD) != 0) ::_exit(2);
    ::_exit(ok ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(std::filesystem::file_size(path("mine")), 10u);
  EXPECT_EQ(name_counts(loaded())["work"], 100'000);
}

class KilledProcessTest : public SpillTest {
 protected:
  [[noreturn]] void record_for_ever() {
    auto session = Session::prepare(spilling());
    session->start();
    std::thread second([] {
      for (;;) NamedScope it("second thread");
    });
    for (std::uint64_t i = 0;; ++i) {
      NamedScope outer("outer");
      for (int k = 0; k < 20; ++k) NamedScope inner("inner");
    }
  }
};

TEST_F(KilledProcessTest, TheFileOpensAndHoldsEverySealedChunk) {
  std::mt19937 random(11);
  std::size_t events = 0;
  for (int round = 0; round < tests::rounds(200); ++round) {
    std::filesystem::remove(path());
    const pid_t child = ::fork();
    if (child == 0) record_for_ever();
    // Killed when the file has reached a random size: a random point of the writer's work, whatever the speed of the machine.
    const std::uint64_t size = std::uniform_int_distribution<std::uint64_t>(0, 150'000)(random);
    std::error_code none;
    int status = 0;
    while (!std::filesystem::exists(path()) || std::filesystem::file_size(path(), none) < std::max<std::uint64_t>(size, 64)) {
      ASSERT_EQ(::waitpid(child, &status, WNOHANG), 0) << "the child has ended by itself";
      std::this_thread::yield();
    }
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const std::uint64_t file_bytes = std::filesystem::file_size(path());
    const trace::LoadResult result = ingest::load_recording(path());
    ASSERT_EQ(trace::check_invariants(result.recording), "");
    events += result.recording.events.size();
    // At most the chunk that was being written is missing.
    ASSERT_LT(result.damage ? file_bytes - result.damage_offset : 0, 256'000u) << *result.damage;
    for (trace::EventIndex i = 0; i < result.recording.events.size(); ++i) ASSERT_FALSE(result.recording.name(i).empty());
  }
  EXPECT_GT(events, 1000u);
}

TEST_F(KilledProcessTest, WhatAProgramOfFewEventsRecordedBeforeTheLastMomentIsInTheFile) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    auto session = Session::prepare(spilling());
    session->start();
    { NamedScope it("few events"); }
    static_cast<void>(::write(ends[1], "x", 1));
    for (;;) ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ends[0], &byte, 1), 1);
  // The file gets the event without another call of the program.
  const auto names = [&] { return event_names(ingest::load_recording(path()).recording); };
  while (names().empty()) std::this_thread::yield();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_THAT(names(), testing::ElementsAre("few events"));
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace mindtorch::record
