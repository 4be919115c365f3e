// Counts the threads that ask for the GIL, and lets the interpreter finalize when there are none.
#include "python/src/interpreter_exit.h"

#include <nanobind/nanobind.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>

namespace mindtorch::python {
namespace {

namespace nb = nanobind;

// Either a thread sees that the interpreter leaves, or the leaving interpreter sees the thread: both need sequential consistency.
std::atomic<bool> leaving{false};
std::atomic<int> staying{0};                   // threads that stay
constinit thread_local int stays_of_this = 0;  // the nested stays of this thread

void leave() {
  ++stays_of_this;  // for good, and not counted in `staying`: this thread finalizes
  leaving.store(true);
  const nb::gil_scoped_release unlocked;  // the threads that we wait for need it
  for (int threads = staying.load(); threads != 0; threads = staying.load()) staying.wait(threads);
}

void leave_stay() noexcept {
  staying.fetch_sub(1);
  staying.notify_all();
}

}  // namespace

bool begin_stay() noexcept {
  if (stays_of_this == 0) {
    staying.fetch_add(1);
    if (leaving.load()) {
      leave_stay();
      return false;
    }
  }
  ++stays_of_this;
  return true;
}

void end_stay() noexcept {
  if (--stays_of_this == 0) leave_stay();
}

void stop_this_thread() noexcept {
  for (;;) ::pause();  // returns after each signal
}

void watch_interpreter_exit() {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(leave));
  // A child has the thread that forked, and no other. `leaving` stays what it is: the child of an atexit handler leaves too.
  ::pthread_atfork(nullptr, nullptr, [] { staying.store(stays_of_this > 0 && !leaving.load() ? 1 : 0); });
}

}  // namespace mindtorch::python
