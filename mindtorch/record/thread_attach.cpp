// Creates a thread's log, attaches it to a session, and unregisters it when the thread ends.
#include "mindtorch/record/thread_attach.h"

#include "mindtorch/record/registry.h"

namespace mindtorch::record {
namespace {

constinit ThreadLog unattached;  // its state equals no state word, so every hook goes the slow way
thread_local bool thread_is_exiting = false;

// Tells the registry when its thread ends. Constructed on the thread's first event.
struct ExitGuard {
  ExitGuard() {}  // not trivial: touching it registers the destructor
  ~ExitGuard() {
    if (thread_log == &unattached) return;
    thread_is_exiting = true;
    Log* log = own_log();
    thread_log = &unattached;
    Registry::instance().thread_exits(log);
  }
};

}  // namespace

constinit thread_local ThreadLog* thread_log = &unattached;

Log* own_log() noexcept { return reinterpret_cast<Log*>(thread_log); }

Log* attached_log(std::uint64_t state) noexcept try {
  if (thread_is_exiting) {
    Registry::instance().refuse_at_thread_exit();
    return nullptr;
  }
  if (thread_log == &unattached) {
    static thread_local ExitGuard guard;
    static_cast<void>(guard);
    thread_log = &Registry::instance().create_log()->hot;
  }
  Log* log = own_log();
  if (generation_of(log->hot.state) == generation_of(state))
    log->hot.state = state;  // only what is wanted has changed
  else if (!Registry::instance().attach(*log, state))
    return nullptr;  // that session is over
  if ((state & kOneThread) != 0 && log->cold.admitted_generation != generation_of(state)) return nullptr;
  return log;
} catch (...) {
  return nullptr;  // out of memory
}

}  // namespace mindtorch::record
