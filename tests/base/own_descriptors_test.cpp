// A descriptor table of a thread's own: what the thread sees, what the program keeps, and what happens where the kernel refuses.
#include "mindtorch/base/own_descriptors.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <future>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <thread>

#include "tests/support/emulator.h"
#include "tests/support/refused_calls.h"
#include "tests/support/sanitizers.h"

namespace mindtorch {
namespace {

bool is_open(int number) { return ::fcntl(number, F_GETFD) >= 0; }

bool leads_to_null(int number) {
  struct stat here, null;
  return ::fstat(number, &here) == 0 && ::stat("/dev/null", &null) == 0 && here.st_rdev == null.st_rdev;
}

// What is true while a thread has a table of its own.
struct Outcome {
  bool is_own = false;
  bool sees_program = true;
  bool has_streams = false;
  int first_number = -1;
  bool shares_with_its_threads = false;
  bool program_keeps = false;
};

Outcome separate_a_thread() {
  Outcome outcome;
  const int low = ::open("/dev/zero", O_RDONLY);
  const int high = ::fcntl(low, F_DUPFD, 200);
  std::thread([&] {
    outcome.is_own = own_descriptors();
    outcome.sees_program = is_open(low) || is_open(high);
    outcome.has_streams = leads_to_null(0) && leads_to_null(1) && leads_to_null(2);
    outcome.first_number = ::open("/dev/zero", O_RDONLY);
    std::thread([&] { outcome.shares_with_its_threads = is_open(outcome.first_number) && !is_open(high); }).join();
    ::close(low);  // a number of the program, which this thread does not have
  }).join();
  outcome.program_keeps = is_open(low) && is_open(high);
  ::close(low);
  ::close(high);
  return outcome;
}

TEST(OwnDescriptors, TheThreadSeesNoneOfTheProgramAndTheProgramKeepsAll) {
  const Outcome outcome = separate_a_thread();
  EXPECT_TRUE(outcome.is_own);
  EXPECT_FALSE(outcome.sees_program);
  EXPECT_TRUE(outcome.has_streams);
  EXPECT_EQ(outcome.first_number, 3);
  EXPECT_TRUE(outcome.shares_with_its_threads);
  EXPECT_TRUE(outcome.program_keeps);
}

TEST(OwnDescriptors, APipeAtTheOutputEndsWhenTheProgramClosesIt) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
  const int output = ::dup(1);
  ASSERT_EQ(::dup2(ends[1], 1), 1);
  ::close(ends[1]);
  std::promise<bool> is_own;
  std::promise<void> end;
  std::thread thread([&] {
    is_own.set_value(own_descriptors());
    end.get_future().wait();
  });
  EXPECT_TRUE(is_own.get_future().get());
  ::dup2(output, 1);  // the program closes its end of the pipe while the thread goes on
  char byte = 0;
  EXPECT_EQ(::read(ends[0], &byte, 1), 0) << "the thread still holds the end that is written to";
  end.set_value();
  thread.join();
  ::close(output);
  ::close(ends[0]);
}

TEST(OwnDescriptors, SignalsGoToOtherThreadsButFaultsStay) {
  sigset_t blocked, here;
  std::thread([&] {
    ASSERT_TRUE(own_descriptors());
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  }).join();
  ::pthread_sigmask(SIG_SETMASK, nullptr, &here);
  for (const int number : {SIGTERM, SIGINT, SIGUSR1, SIGCHLD, SIGALRM}) {
    EXPECT_EQ(::sigismember(&blocked, number), 1) << number;
    EXPECT_EQ(::sigismember(&here, number), 0) << number;
  }
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE}) EXPECT_EQ(::sigismember(&blocked, number), 0) << number;
}

TEST(OwnDescriptors, WorkIsDoneWithoutTheDescriptorsOfTheProgramAndItsErrorsComeBack) {
  const int file = ::open("/dev/zero", O_RDONLY);
  bool sees_program = true;
  with_own_descriptors([&] { sees_program = is_open(file); });
  EXPECT_FALSE(sees_program);
  EXPECT_TRUE(is_open(file));
  EXPECT_THROW(with_own_descriptors([] { throw std::runtime_error("no"); }), std::runtime_error);
  ::close(file);
}

TEST(OwnDescriptors, AnOlderKernelSeparatesToo) {
  const std::optional<int> status = tests::status_where_refused({tests::kCloseRange}, [] {
    const Outcome outcome = separate_a_thread();
    return outcome.is_own && !outcome.sees_program && outcome.first_number == 3 && outcome.program_keeps ? 0 : 1;
  });
  if (!status || tests::is_emulated()) GTEST_SKIP() << "this system has no filters of system calls";
  EXPECT_EQ(status, 0);
}

TEST(OwnDescriptors, AFullTableIsSeparatedOnAnOlderKernel) {
  if (tests::kSanitized) GTEST_SKIP() << "sanitizers need free descriptors";
  const std::optional<int> status = tests::status_where_refused({tests::kCloseRange}, [] {
    const rlimit few = {64, 64};
    ::setrlimit(RLIMIT_NOFILE, &few);
    while (::dup(1) >= 0) {
    }
    bool is_empty = false;
    std::thread([&] { is_empty = own_descriptors() && ::dup(0) == 3; }).join();
    return is_empty ? 0 : 1;
  });
  if (!status || tests::is_emulated()) GTEST_SKIP() << "this system has no filters of system calls";
  EXPECT_EQ(status, 0);
}

TEST(OwnDescriptors, NothingChangesIfTheKernelRefuses) {
  const std::optional<int> status = tests::status_where_refused({tests::kCloseRange, SYS_unshare}, [] {
    const int file = ::open("/dev/zero", O_RDONLY);
    sigset_t before, after;
    ::pthread_sigmask(SIG_SETMASK, nullptr, &before);
    const bool is_own = own_descriptors();
    ::pthread_sigmask(SIG_SETMASK, nullptr, &after);
    return !is_own && is_open(file) && ::sigismember(&after, SIGTERM) == ::sigismember(&before, SIGTERM) ? 0 : 1;
  });
  if (!status || tests::is_emulated()) GTEST_SKIP() << "this system has no filters of system calls";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace mindtorch
