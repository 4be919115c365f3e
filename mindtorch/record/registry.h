// The registry: all logs of the process, and the session they write to. Internal to record.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "mindtorch/record/log_storage.h"

namespace mindtorch::record {

class SessionCore;

// Lock order: registry, then one log's, then session/pool/names.
class Registry {
 public:
  static Registry& instance();

  // Claims the process for a session. Returns false if another session has claimed it.
  bool claim(SessionCore* session);
  // Lets logs attach to the session that has claimed the process.
  void open(SessionCore* session);
  // Lets no more logs attach. Seals and returns every log that took part; without memory for that, events are counted as refused.
  SealedLogs close(SessionCore* session) noexcept;
  // Returns what every log of the session has recorded so far, and holds its blocks (SessionCore::held). The logs go on recording.
  SealedLogs look(SessionCore* session);
  // Returns the segments that threads of the session are filling, as far as they are filled. For the spill thread, which alone gives their
  // blocks back. Leaves out what is locked at the moment: a thread may hold its lock while it waits for the spill.
  std::vector<SealedLog> look_at_current(SessionCore* session);
  void unclaim(SessionCore* session);

  // Returns a generation number that no session has had.
  std::uint32_t next_generation();

  // The out-of-line functions for recording threads. attach() attaches `log` to the session of the state word `state`, and returns false if
  // that session is over.
  Log* create_log();
  bool attach(Log& log, std::uint64_t state);
  // Ends a scope that the calling thread did not open, and marks it as async. Does nothing if the session of `state` is over.
  void close_async(Slot* slot, std::uint64_t state, std::uint64_t end_ticks) noexcept;
  void thread_exits(Log* log) noexcept;
  // Returns a block to the thread that may still write to it, or to the pool if the thread has ended.
  void keep_for_thread(std::uint32_t number, void* block) noexcept;
  // Counts an event of a thread whose log no longer exists.
  void refuse_at_thread_exit() noexcept;

 private:
  Registry();
  void install_fork_handlers();
  void lock_all();
  void unlock_all();
  void become_idle_in_child();

  std::mutex mutex_;
  std::vector<std::unique_ptr<Log>> logs_;
  SessionCore* claimed_ = nullptr;
  SessionCore* open_ = nullptr;
  std::uint32_t last_generation_ = 0;
  std::uint32_t last_number_ = 0;
};

}  // namespace mindtorch::record
