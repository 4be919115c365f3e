// The thread's table is separated from that of the program by close_range(), or on kernels before 5.9 by unshare().
#include "mindtorch/base/own_descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <system_error>
#include <thread>

namespace mindtorch {
namespace {

constexpr unsigned kFirst = 3;

// From linux/close_range.h, which the headers of older systems lack. The number of the call is the same on all architectures.
constexpr long kCloseRange = 436;
constexpr unsigned kUnshare = 1U << 1;

bool close_range_unshared() { return ::syscall(kCloseRange, kFirst, ~0U, kUnshare) == 0; }

// Closes what unshare() has copied.
void close_copies() {
  ::close(kFirst);  // The folder is opened below, also if the table is full.
  DIR* const folder = ::opendir("/proc/thread-self/fd");
  if (folder == nullptr) return;
  while (const dirent* const entry = ::readdir(folder)) {
    const int number = std::atoi(entry->d_name);
    if (number >= static_cast<int>(kFirst) && number != ::dirfd(folder)) ::close(number);
  }
  ::closedir(folder);
}

void lead_standard_streams_nowhere() {
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere < 0) return;
  for (int number = 0; number < static_cast<int>(kFirst); ++number)
    if (number != nowhere) ::dup2(nowhere, number);
  if (nowhere >= static_cast<int>(kFirst)) ::close(nowhere);
}

// Signals that the kernel sends to the very thread that has failed: blocked, they would end the program without its handler.
void block_signals(sigset_t* before) {
  sigset_t blocked;
  ::sigfillset(&blocked);
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT}) ::sigdelset(&blocked, fault);
  ::pthread_sigmask(SIG_SETMASK, &blocked, before);
}

}  // namespace

bool own_descriptors() noexcept {
  sigset_t before;
  block_signals(&before);  // first: a handler must not see the new table
  if (!close_range_unshared()) {
    if (::unshare(CLONE_FILES) != 0) {
      ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
      return false;
    }
    close_copies();
  }
  lead_standard_streams_nowhere();
  return true;
}

void with_own_descriptors(const std::function<void()>& work) {
  std::exception_ptr failure;
  std::thread thread;
  try {
    thread = std::thread([&] {
      own_descriptors();
      try {
        work();
      } catch (...) {
        failure = std::current_exception();
      }
    });
  } catch (const std::system_error&) {
    return work();
  }
  thread.join();
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace mindtorch
