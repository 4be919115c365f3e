// The kernel tells of each thread the system call in which it waits.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "python/src/sampling/sampling_thread.h"

namespace mindtorch::python {
namespace {

using For = ThreadActivity::For;

// A call that waits for files with none of them waits for a time. `arguments` are those of the call.
For waits_for(long call, const std::array<Address, 3>& arguments) {
  switch (call) {
    case SYS_futex: return For::kLock;
    case SYS_nanosleep:
    case SYS_clock_nanosleep: return For::kTime;
#ifdef SYS_select
    case SYS_select:
#endif
    case SYS_pselect6: return arguments[0] == 0 ? For::kTime : For::kIo;
#ifdef SYS_poll
    case SYS_poll:
#endif
    case SYS_ppoll: return arguments[1] == 0 ? For::kTime : For::kIo;
#ifdef SYS_pause
    case SYS_pause:
#endif
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait: return For::kUnknown;
    default: return For::kIo;
  }
}

}  // namespace

std::optional<std::int64_t> processor_time(std::int64_t thread) noexcept {
  // The clock of a thread by its number, as the C library makes it from a pthread_t: that may be gone.
  constexpr unsigned kOfThread = 4, kScheduled = 2;
  const auto clock = static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3 | kOfThread | kScheduled);
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return std::nullopt;
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

ThreadActivity::~ThreadActivity() {
  if (file_ >= 0) ::close(file_);
}

ThreadActivity::ThreadActivity(ThreadActivity&& other) noexcept
    : thread_(other.thread_), file_(std::exchange(other.file_, -1)), has_opened_(other.has_opened_) {}

ThreadActivity::Now ThreadActivity::now() noexcept {
  std::array<char, 256> text;
  if (!std::exchange(has_opened_, true)) {
    *fmt::format_to_n(text.data(), text.size() - 1, "/proc/self/task/{}/syscall", thread_).out = '\0';
    file_ = ::open(text.data(), O_RDONLY | O_CLOEXEC);
  }
  const ssize_t bytes = file_ >= 0 ? ::pread(file_, text.data(), text.size() - 1, 0) : -1;
  if (bytes <= 0) return {};
  text[static_cast<std::size_t>(bytes)] = '\0';
  if (std::string_view(text.data()).starts_with("running")) return {.doing = Doing::kRuns};
  char* at = nullptr;
  const long call = std::strtol(text.data(), &at, 10);
  if (call < 0) return {.doing = Doing::kWaits, .what = For::kIo};  // not in a call: a page is read from a file
  std::array<Address, 3> arguments{};
  for (Address& argument : arguments) argument = std::strtoul(at, &at, 16);
  return {.doing = Doing::kWaits, .what = waits_for(call, arguments), .lock = arguments[0]};
}

}  // namespace mindtorch::python
