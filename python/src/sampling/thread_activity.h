// ThreadActivity: how long a thread has run, and what it waits for, from the kernel.
#pragma once

#include <cstdint>
#include <optional>

#include "python/src/capture/interpreter_memory.h"

namespace mindtorch::python {

// The time that a thread of this process has spent on processors, in nanoseconds; none if there is no such thread.
std::optional<std::int64_t> processor_time(std::int64_t thread) noexcept;

// Of one thread. It keeps a file open, if it may: only on a thread with a descriptor table of its own. Without a file nothing is known.
class ThreadActivity {
 public:
  ThreadActivity(std::int64_t thread, bool may_open_files) : thread_(thread), has_opened_(!may_open_files) {}
  ~ThreadActivity();
  ThreadActivity(ThreadActivity&& other) noexcept;
  ThreadActivity& operator=(ThreadActivity&&) = delete;

  // kRuns: it is on a processor, or waits for one. kWaits: it is in the kernel and waits.
  enum class Doing { kUnknown, kRuns, kWaits };
  enum class For { kUnknown, kLock, kIo, kTime };
  struct Now {
    Doing doing = Doing::kUnknown;
    For what = For::kUnknown;
    Address lock = 0;  // For::kLock: the address at which it waits
  };
  Now now() noexcept;

 private:
  std::int64_t thread_;
  int file_ = -1;
  bool has_opened_ = false;
};

}  // namespace mindtorch::python
