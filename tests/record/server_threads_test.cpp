// A server with a thread for each request: what threads that have ended recorded stays within the budget, however many there were, and
// however long it runs.
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>
#include <thread>
#include <vector>

#include "mindtorch/ingest/recording_file.h"
#include "tests/record/recorded.h"
#include "tests/support/sanitizers.h"
#include "tests/support/temporary_folder.h"

namespace mindtorch::record {
namespace {

using ServerThreadsTest = RecordedTest;
constexpr std::int64_t kMegabyte = std::int64_t{1} << 20;

// The memory of the process, or 0 where a sanitizer keeps what was freed.
std::int64_t resident_bytes() {
  if (tests::kSanitized) return 0;
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

class Requests {
 public:
  explicit Requests(int events) : events_(events) {}
  // Serves so many requests, some at a time, each on a thread of its own.
  void serve(int count, int at_once) {
    for (int done = 0; done < count; done += at_once) {
      std::vector<std::thread> threads;
      for (int i = 0; i < at_once; ++i)
        threads.emplace_back([this] {
          for (int k = 0; k < events_; ++k) NamedScope scope("request");
        });
      for (std::thread& thread : threads) thread.join();
    }
  }

 private:
  int events_;
};

TEST_F(ServerThreadsTest, AHundredThousandThreadsStayWithinTheBudget) {
  constexpr int kThreads = tests::kSanitized ? 2'000 : 100'000, kEvents = 3, kAtOnce = 20;
  const tests::TemporaryFolder folder;
  for (const auto policy : {Budget::Policy::kGrow, Budget::Policy::kKeepLast, Budget::Policy::kSpill}) {
    SessionOptions options;
    options.budget = {.policy = policy, .bytes = 16 * kMegabyte};
    if (policy == Budget::Policy::kSpill) options.budget.spill_path = folder / "spill.mtrec";
    Requests requests(kEvents);
    auto session = started(options);
    requests.serve(100, kAtOnce);  // what is made once is there
    const std::int64_t before = resident_bytes();
    std::int64_t most = 0;
    for (int part = 0; part < 10; ++part) {
      requests.serve(kThreads / 10, kAtOnce);
      most = std::max(most, session->bytes_in_use());
    }
    EXPECT_LE(most, options.budget.bytes + std::int64_t{kAtOnce} * (64 << 10));
    EXPECT_LE(resident_bytes() - before, options.budget.bytes + 24 * kMegabyte);
    const trace::Recording recording = stopped(*session);
    std::uint64_t missing = 0;
    for (const trace::Loss& loss : recording.losses) missing += loss.count;
    const bool spills = policy == Budget::Policy::kSpill;
    // A file also has the waits of threads for the disk.
    const int kept = name_counts(spills ? ingest::load_recording(options.budget.spill_path).recording : recording)["request"];
    EXPECT_EQ(static_cast<std::uint64_t>(kept) + missing, std::uint64_t{kThreads + 100} * kEvents);
    EXPECT_EQ(spills ? missing : 0, 0u);
    EXPECT_LT(recording.losses.size(), 10u) << "a loss for each thread";
  }
}

// A request each second under a monitor that keeps the last minute and writes a file every ten minutes; the clock is turned by hand.
TEST_F(ServerThreadsTest, ADayOfAServerIsFlat) {
  constexpr int kMinutes = tests::kSanitized ? 30 : 24 * 60, kRequestsPerMinute = 60, kEvents = 5;
  SessionOptions options;
  options.budget = {.policy = Budget::Policy::kKeepLast, .bytes = 64 * kMegabyte, .keep_ns = 60'000'000'000};
  Requests requests(kEvents);
  auto session = started(options);
  std::int64_t in_use_early = 0, in_use_late = 0, resident_early = 0;
  for (int minute = 0; minute < kMinutes; ++minute) {
    for (int step = 0; step < 10; ++step) {
      session->mark_step(minute * 10 + step);
      requests.serve(kRequestsPerMinute / 10, 2);
      clock_.advance(6'000'000'000);
    }
    (minute < kMinutes / 4 ? in_use_early : in_use_late) =
        std::max(minute < kMinutes / 4 ? in_use_early : in_use_late, session->bytes_in_use());
    if (minute % 10 == 9) {
      const trace::Recording last = snapshot_of(*session);
      EXPECT_GE(last.events.size(), static_cast<std::size_t>(kRequestsPerMinute * kEvents));
      EXPECT_LE(last.events.size(), static_cast<std::size_t>(2 * kRequestsPerMinute * kEvents));
    }
    if (minute == kMinutes / 4) resident_early = resident_bytes();
  }
  EXPECT_LE(in_use_late, in_use_early + in_use_early / 10);
  EXPECT_LE(resident_bytes() - resident_early, 4 * kMegabyte);
  EXPECT_LE(stopped(*session).losses.size(), 10u);
}

}  // namespace
}  // namespace mindtorch::record
