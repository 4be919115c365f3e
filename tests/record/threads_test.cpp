// Threads that start and die while sessions start, toggle and stop; forks; many sessions. Run under TSan and ASan too.
// Tests mindtorch/record/thread_log too.
#include <gmock/gmock.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "mindtorch/record/input_writer.h"
#include "mindtorch/trace/invariants.h"
#include "tests/record/recorded.h"
#include "tests/support/emulator.h"
#include "tests/support/sanitizers.h"

namespace mindtorch::record {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::ThrowsMessage;

using ThreadsTest = RecordedTest;

// What a busy thread does: nested scopes, arguments, memory reports, attributes, instants, a scope handed to another thread.
void busy_round(std::atomic<NamedScope*>& exchange) {
  const std::int64_t sizes[] = {2, 3, 4};
  NamedScope outer("outer");
  for (int i = 0; i < 50; ++i) {
    OpScope op(intern_cached("op " + std::to_string(i % 7)));
    if (op.wants(kShapes)) {
      InputWriter inputs(op);
      inputs.tensor(trace::ScalarType::kFloat, sizes, sizes, 3, i % 2 == 0);
      inputs.text("mode");
    }
    if (op.recording()) add_attribute(op.slot(), intern_cached("i"), std::int64_t{i});
    op.set_link(trace::make_sequence_link(i, thread_number()));
    record_memory({}, &op, 64, 64, 64);
  }
  record_instant(intern_cached("instant"));
  auto* mine = new NamedScope("travelling");
  delete exchange.exchange(mine);  // closes what another thread opened
}

TEST(Stress, ThreadsAreBornAndDieWhileSessionsStartToggleAndStop) {
  std::atomic<bool> done{false};
  std::atomic<NamedScope*> exchange{nullptr};
  std::vector<std::thread> parents;
  for (int t = 0; t < 3; ++t)
    parents.emplace_back([&] {
      while (!done) {
        std::thread child([&] {
          for (int i = 0; i < 3; ++i) busy_round(exchange);
        });
        busy_round(exchange);
        child.join();
      }
    });
  std::size_t events = 0;
  for (int round = 0; round < 150 || events == 0; ++round) {  // on a busy machine the threads may not have run yet
    SessionOptions options;
    options.shapes = round % 2 == 0;
    options.memory = round % 3 == 0;
    if (round % 4 == 3)
      options.budget = {.policy = Budget::Policy::kKeepLast, .bytes = std::int64_t{1} << 20, .keep_steps = round % 8 == 3 ? 2 : 0};
    auto session = Session::prepare(options);
    session->start();
    for (int step = 0; step < 4; ++step) {
      session->mark_step(step);
      session->toggle_events(step % 2 == 0);
      std::this_thread::yield();
    }
    if (round % 10 == 9) continue;  // destroyed while running
    const trace::Recording recording = session->stop();
    ASSERT_EQ(trace::check_invariants(recording), "");
    events += recording.events.size();
  }
  done = true;
  for (std::thread& parent : parents) parent.join();
  delete exchange.load();
  EXPECT_GT(events, 0u);
  EXPECT_EQ(current_state(), 0u);
}

TEST_F(ThreadsTest, AllEventsOfThreadsThatDiedAreThere) {
  auto session = started();
  constexpr int kThreads = 50, kEvents = 3000;
  for (int t = 0; t < kThreads; ++t)
    std::thread([&] {
      for (int i = 0; i < kEvents; ++i) NamedScope it("work");
    }).join();
  const trace::Recording recording = stopped(*session);
  EXPECT_EQ(recording.events.size(), static_cast<std::size_t>(kThreads * kEvents));
  EXPECT_EQ(recording.tracks.size(), static_cast<std::size_t>(kThreads));
  EXPECT_TRUE(recording.losses.empty());
}

TEST_F(ThreadsTest, AThreadKeepsItsNumberAndNameFromSessionToSession) {
  const auto record_main = [&] {
    auto session = started();
    scope("main");
    const trace::Recording recording = stopped(*session);
    return recording.tracks.at(0);
  };
  ::pthread_setname_np(::pthread_self(), "first name");
  const trace::Track first = record_main();
  EXPECT_EQ(first.name, "first name");
  EXPECT_EQ(first.id, ::gettid());
  EXPECT_EQ(first.pid, ::getpid());
  ::pthread_setname_np(::pthread_self(), "second name");
  const trace::Track second = record_main();
  EXPECT_EQ(second.name, "second name") << "a name given after the first event counts";
  EXPECT_EQ(second.number, first.number);
}

TEST_F(ThreadsTest, ANameThatWasCutInsideACharacterIsShownWithoutIt) {
  const auto shown = [&](const char* name) {
    ::pthread_setname_np(::pthread_self(), name);
    auto session = started();
    scope("main");
    return stopped(*session).tracks.at(0).name;
  };
  EXPECT_EQ(shown("a cut euro: \xE2\x82"), "a cut euro: ");
  EXPECT_EQ(shown("whole: \xE2\x82\xAC\xC3\xA9"), "whole: \xE2\x82\xAC\xC3\xA9");
  EXPECT_EQ(shown("\x82\x82"), "\x82\x82") << "what is no UTF-8 stays";
}

struct RecordsAtExit {
  bool armed = false;
  ~RecordsAtExit() {
    if (armed) NamedScope it("in a destructor");
  }
};
thread_local RecordsAtExit records_at_exit;

TEST_F(ThreadsTest, EventsInThreadLocalDestructorsAreRecordedOrCounted) {
  auto session = started();
  std::thread([&] {
    records_at_exit.armed = true;  // constructed before the log's guard, destroyed after it
    scope("in the thread");
  }).join();
  const trace::Recording recording = stopped(*session);
  EXPECT_EQ(recording.events.size() + lost(recording, trace::LossReason::kThreadExit), 2u);
}

// Runs `body` in a forked child; the child's exit code.
template <class Body>
int in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    int code = 99;
    try {
      code = body();
    } catch (...) {
    }
    ::_exit(code);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST_F(ThreadsTest, AfterForkTheChildIsIdleAndTheParentUnharmed) {
  auto session = started();
  scope("before");
  NamedScope open("open across fork");
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done) NamedScope it("other");
  });
  for (int round = 0; round < 20; ++round) {
    const int code = in_child([&] {
      if (current_state() != 0) return 1;
      open.close();
      scope("in the child");
      try {
        session->stop();
        return 2;
      } catch (const Error& error) {
        if (std::string(error.what()).find("belongs to the parent process") == std::string::npos) return 3;
      }
      session.reset();
      auto own = started();  // the child may record a session of its own
      scope("own");
      const trace::Recording recording = own->stop();
      if (event_names(recording) != std::vector<std::string>{"own"}) return 4;
      return recording.tracks.at(0).pid == ::getpid() && recording.tracks.at(0).id == ::gettid() ? 0 : 5;
    });
    ASSERT_EQ(code, 0);
  }
  done = true;
  other.join();
  open.close();
  scope("after");
  auto counts = name_counts(stopped(*session));
  EXPECT_EQ(counts["before"], 1);
  EXPECT_EQ(counts["after"], 1);
  EXPECT_EQ(counts["in the child"], 0);
}

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * ::sysconf(_SC_PAGESIZE);
}

TEST(Leaks, AThousandSessionsGrowTheProcessByLessThanAMegabyte) {
  if (tests::kSanitized || tests::is_emulated()) GTEST_SKIP() << "a sanitizer or qemu keeps freed memory";
  const auto one_session = [] {
    auto session = Session::prepare({.shapes = true, .memory = true});
    session->start();
    const auto work = [] {
      const std::int64_t sizes[] = {4};
      for (int i = 0; i < 500; ++i) {
        OpScope op(intern("aten::add"));
        InputWriter(op).tensor(trace::ScalarType::kFloat, sizes, sizes, 1, true);
        record_memory({}, &op, 1, 1, 1);
      }
    };
    work();
    std::thread(work).join();
    ASSERT_EQ(session->stop().events.size(), 1000u);
  };
  for (int i = 0; i < 100; ++i) one_session();
  const std::int64_t before = resident_bytes();
  for (int i = 0; i < 1000; ++i) one_session();
  EXPECT_LT(resident_bytes() - before, std::int64_t{1} << 20);
}

TEST(Leaks, ALargeSessionGivesItsMemoryBack) {
  if (tests::kSanitized || tests::is_emulated()) GTEST_SKIP() << "a sanitizer or qemu keeps freed memory";
  const std::int64_t before = resident_bytes();
  {
    auto session = Session::prepare({});
    session->start();
    for (int i = 0; i < 2'000'000; ++i) OpScope op(1);
    session->stop();
  }
  EXPECT_LT(resident_bytes() - before, std::int64_t{24} << 20) << "64 MB were recorded; 8 MB may be kept for the next session";
}

}  // namespace
}  // namespace mindtorch::record
